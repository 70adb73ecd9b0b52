package clients

import (
	"path/filepath"
	"slices"
)

// SetUp is a client that speaks one dialect.
type SetUp struct {
	Name    string
	Dialect string
	pkg     pkg
	legacy  bool // its model does not bind thinking to what precedes it
	// command returns the command line that makes the client read the files,
	// and writes the configuration it needs.
	command func(p *place) (args []string, env []string, err error)
}

// place is where a client runs.
type place struct {
	cache   string
	base    string // URL without /v1
	home    string
	config  string // a directory for configuration
	project string
}

// v1 is the base URL as OpenAI's clients want it.
func (p *place) v1() string { return p.base + "/v1" }

// bin is the path of a program of a package.
func (p *place) bin(k pkg, name string) string { return k.bin(p.cache, name) }

// write writes a file of configuration and returns its path.
func (p *place) write(text string, path ...string) (string, error) {
	name := filepath.Join(path...)
	return name, writeFile(name, text)
}

// task is the prompt that every client gets.
const task = "Read the files one by one"

// Keys that the clients want to have.
const (
	anthropicKey = "sk-ant-test"
	openaiKey    = "sk-test"
)

// claudeModel is a model that binds thinking to what precedes it.
const claudeModel = "claude-opus-5-5"

// ample is the context window, in tokens, that clients are configured with, so that they
// leave the context to whoever answers.
const ample = "10000000"

// SetUps returns what can be run.
func SetUps() []SetUp {
	out := []SetUp{
		{Name: "sdk-anthropic", Dialect: "anthropic", pkg: anthropicSDK, command: script("anthropic.mjs", "whole")},
		{Name: "sdk-anthropic-stream", Dialect: "anthropic", pkg: anthropicSDK, command: script("anthropic.mjs", "stream")},
		{Name: "sdk-chat", Dialect: "chat", pkg: openaiSDK, command: script("chat.mjs", "stream")},
		{Name: "sdk-responses", Dialect: "responses", pkg: openaiSDK, command: script("responses.mjs", "stream")},
	}
	for _, d := range []string{"anthropic", "chat", "responses"} {
		out = append(out,
			SetUp{Name: "opencode-" + d, Dialect: d, pkg: opencode, command: opencodeCommand(d)},
			SetUp{Name: "pi-" + d, Dialect: d, pkg: pi, command: piCommand(pi, d)},
			// It clears old tool results in place, which bound thinking does not survive.
			SetUp{Name: "qwen-" + d, Dialect: d, pkg: qwen, legacy: true, command: qwenCommand(d, "claude-sonnet-4-5")},
		)
	}
	return append(out,
		SetUp{Name: "qwen-anthropic-bound", Dialect: "anthropic", pkg: qwen, command: qwenCommand("anthropic", claudeModel)},
		SetUp{Name: "cline", Dialect: "chat", pkg: cline, command: clineCommand},
		SetUp{Name: "continue", Dialect: "chat", pkg: continueCLI, command: continueCommand},
		SetUp{Name: "codex", Dialect: "responses", pkg: codex, command: codexCommand},
		SetUp{Name: "claude-code", Dialect: "anthropic", pkg: claudeCode, command: claudeCommand(claudeCode, claudeModel)},
		SetUp{Name: "claude-code-legacy", Dialect: "anthropic", pkg: claudeCode, legacy: true, command: claudeCommand(claudeCode, "claude-sonnet-4-5")},
	)
}

// Named returns the set-ups of these names, and the names that there are not. No
// names mean all of them.
func Named(names []string) (out []SetUp, unknown []string) {
	all := SetUps()
	if len(names) == 0 {
		return all, nil
	}
	for _, name := range names {
		i := slices.IndexFunc(all, func(s SetUp) bool { return s.Name == name })
		if i < 0 {
			unknown = append(unknown, name)
			continue
		}
		out = append(out, all[i])
	}
	return out, unknown
}
