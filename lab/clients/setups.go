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
	legacy  bool // its model does not bind thinking to the preceding prompt
	// command returns the command line that makes the client read the files, and writes the
	// client's configuration.
	command func(p *place) (args []string, env []string, err error)
}

// place is the environment of a client.
type place struct {
	cache   string
	base    string // URL without /v1
	home    string
	config  string // a directory for configuration
	project string
}

// v1 is the base URL in the form of OpenAI's clients.
func (p *place) v1() string { return p.base + "/v1" }

// bin is the path of a program in a package.
func (p *place) bin(k pkg, name string) string { return k.bin(p.cache, name) }

// write writes a configuration file and returns its path.
func (p *place) write(text string, path ...string) (string, error) {
	name := filepath.Join(path...)
	return name, writeFile(name, text)
}

// task is the prompt for every client.
const task = "Read the files one by one"

// Keys that the clients require.
const (
	anthropicKey = "sk-ant-test"
	openaiKey    = "sk-test"
)

// claudeModel is a model that binds thinking to the preceding prompt.
const claudeModel = "claude-opus-5-5"

// ample is the context window, in tokens, configured for clients that must leave context management
// to the gateway.
const ample = "10000000"

// SetUps returns all setups.
func SetUps() []SetUp {
	out := []SetUp{
		{Name: "sdk-anthropic", Dialect: "anthropic", pkg: anthropicSDK,
			command: script("anthropic.mjs", "whole")},
		{Name: "sdk-anthropic-stream", Dialect: "anthropic", pkg: anthropicSDK,
			command: script("anthropic.mjs", "stream")},
		{Name: "sdk-chat", Dialect: "chat", pkg: openaiSDK, command: script("chat.mjs", "stream")},
		{Name: "sdk-responses", Dialect: "responses", pkg: openaiSDK,
			command: script("responses.mjs", "stream")},
	}
	for _, d := range []string{"anthropic", "chat", "responses"} {
		out = append(out,
			SetUp{Name: "opencode-" + d, Dialect: d, pkg: opencode, command: opencodeCommand(d)},
			SetUp{Name: "pi-" + d, Dialect: d, pkg: pi, command: piCommand(pi, d)},
			// Qwen Code clears old tool results in place, which invalidates bound thinking.
			SetUp{Name: "qwen-" + d, Dialect: d, pkg: qwen, legacy: true,
				command: qwenCommand(d, "claude-sonnet-4-5")},
		)
	}
	return append(out,
		SetUp{Name: "qwen-anthropic-bound", Dialect: "anthropic", pkg: qwen,
			command: qwenCommand("anthropic", claudeModel)},
		SetUp{Name: "cline", Dialect: "chat", pkg: cline, command: clineCommand},
		SetUp{Name: "continue", Dialect: "chat", pkg: continueCLI, command: continueCommand},
		SetUp{Name: "codex", Dialect: "responses", pkg: codex, command: codexCommand},
		SetUp{Name: "claude-code", Dialect: "anthropic", pkg: claudeCode,
			command: claudeCommand(claudeCode, claudeModel)},
		SetUp{Name: "claude-code-legacy", Dialect: "anthropic", pkg: claudeCode, legacy: true,
			command: claudeCommand(claudeCode, "claude-sonnet-4-5")},
	)
}

// Named returns the setups with these names, and the unknown names. No names mean all setups.
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
