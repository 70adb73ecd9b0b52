package clients

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// HostSetUp is an agent program with a compaction of its own that precis can take part in.
type HostSetUp struct {
	Name   string
	host   string // name for precis install; "": Name
	pkg    pkg
	window int // of the model server, in tokens; 0: the program compacts before any limit
	// latency is the delay of each event of an answer, for programs that do not wait for hooks.
	latency time.Duration
	legacy  bool // its model does not bind thinking to the preceding prompt
	thinks  bool
	// command returns the command line, and writes a configuration with a small window.
	command func(p *place, task string) (args, env []string, err error)
	flags   []string // for precis install
	// pause is the number of files after which the model ends its turn, for programs that compact
	// only between turns. again is the command line that continues then.
	pause int
	again func(p *place) []string
	// then holds text typed in the same session once all files are read, with further flags of the
	// command line.
	then [][]string
	// sittings are uses by a person in a terminal. onboard answers the questions at the first
	// start.
	sittings []sitting
	onboard  func(p *place) error
	says     bool // precis prints a line about each compaction
	// validate is the command line that checks files installed in a folder of plugins; nil: none.
	validate func(p *place, plugins string) []string
}

// InTerminal reports whether the lab can run the program in a terminal, as a person uses it.
func (s HostSetUp) InTerminal() bool { return len(s.sittings) > 0 }

// small is the context window, in tokens, configured for most programs. Qwen Code never sends more
// than half of its window.
const (
	small     = 48_000
	qwenSmall = 100_000
)

// HostSetUps returns the programs of the lab.
func HostSetUps() []HostSetUp {
	return []HostSetUp{
		{Name: "claude-code", pkg: claudeCode, window: 60_000, command: hostClaude(claudeCode, 45),
			then: slices.Concat(byHand, forked), sittings: claudeSittings, onboard: claudeOnboard, says: true,
			validate: claudeValidate(claudeCode)},
		{Name: "claude-code-2.1.197", host: "claude-code", pkg: claudeCodeOld, window: 110_000,
			command: hostClaude(claudeCodeOld, 85), then: slices.Concat(byHand, forked),
			sittings: claudeSittings, onboard: claudeOnboard, validate: claudeValidate(claudeCodeOld)},
		{Name: "codex", pkg: codex, command: hostCodex, flags: []string{"--trust"}},
		{Name: "codex-windows", host: "codex", pkg: codex, command: hostCodexWindows,
			flags: []string{"--trust"}},
		{Name: "qwen", pkg: qwen, legacy: true, latency: 40 * time.Millisecond, command: hostQwen},
		{Name: "opencode", pkg: opencode, command: hostOpencode},
		{Name: "gemini", pkg: geminiCLI, command: hostGemini, pause: 4, again: geminiAgain},
		{Name: "pi", pkg: pi, window: small, legacy: true, thinks: true, command: hostPi(pi)},
		{Name: "pi-old", host: "pi", pkg: piOld, window: small, legacy: true, thinks: true,
			command: hostPi(piOld)},
		{Name: "cline", pkg: cline, window: small, command: hostCline},
	}
}

// The planted facts: a rule by the user in the request, and errors in two of the first files. The
// model server's summaries contain none of them.
const (
	plantRule   = "Never run git push without asking me first."
	plantError  = "ERROR E4711: the lease of shard kestrel-7 expired"
	plantNumber = "8191"
	plantFile   = "internal/ledger/rollover.go"
)

var plants = []string{plantRule, "E4711", plantNumber, plantFile}

// A person's input in a session of Claude Code: a compaction that is undone, another one, and a
// fork with a recording that begins with the result of the newest compaction.
var (
	byHand = [][]string{{"/compact Mind the lease.", "-c"}, {goOn, "-c"}, {"/compact undo", "-c"},
		{goOn, "-c"}, {"/compact", "-c"}, {goOn, "-c"}}
	forked = [][]string{{goOn, "-c", "--fork-session"}, {"/compact", "-c"}, {goOn, "-c"},
		{"/compact undo", "-c"}, {goOn, "-c"}}
)

// claudeSittings are manual and automatic compactions, and sessions that are resumed, forked and
// begun anew.
var claudeSittings = []sitting{
	{nil, []string{task + ". " + plantRule, "/compact Mind the lease.", goOn, "/compact undo", goOn,
		"/compact", goOn}},
	{[]string{"-c"}, []string{goOn}},
	{[]string{"-c", "--fork-session"}, []string{goOn, "/compact", goOn}},
	{[]string{"-c"}, []string{wipe, "Hello."}},
}

// claudeOnboard answers the questions of Claude Code at its first start in a terminal.
func claudeOnboard(p *place) error {
	_, err := p.writeJSON(object{
		"hasCompletedOnboarding": true, "theme": "dark", "bypassPermissionsModeAccepted": true,
		"customApiKeyResponses": object{"approved": []string{anthropicKey}},
		"projects":              object{p.project: object{"hasTrustDialogAccepted": true}},
	}, p.home, ".claude.json")
	return err
}

func claudeValidate(of pkg) func(*place, string) []string {
	return func(p *place, plugins string) []string {
		return []string{p.bin(of, "claude"), "plugin", "validate",
			filepath.Join(plugins, "claude-code", "precis")}
	}
}

const goOn = "Go on with the next files."

// hostClaude compacts at a percentage of 100,000 tokens. The older version has longer prompts, and
// gives up if the context is full again too soon.
func hostClaude(of pkg, percent int) func(p *place, task string) ([]string, []string, error) {
	return func(p *place, task string) ([]string, []string, error) {
		args, env, err := claudeCommand(of, claudeModel)(p)
		env = append(env, "IS_SANDBOX=1", "CLAUDE_CODE_AUTO_COMPACT_WINDOW=100000",
			fmt.Sprint("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE=", percent))
		return append(replaced(args, task), "--dangerously-skip-permissions"), env, err
	}
}

// replaced returns a command line with another task.
func replaced(args []string, by string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		if out[i] = a; a == task {
			out[i] = by
		}
	}
	return out
}

func hostCodex(p *place, task string) ([]string, []string, error) {
	args, env, err := codexCommand(p)
	args = replaced(args, task)
	for i, a := range args {
		a = strings.ReplaceAll(a, "model_context_window="+ample, fmt.Sprint("model_context_window=", small))
		args[i] = strings.ReplaceAll(a, "model_auto_compact_token_limit="+ample,
			fmt.Sprint("model_auto_compact_token_limit=", small*3/4))
	}
	return args, env, err
}

// hostCodexWindows begins a new, empty context window instead of writing a summary.
func hostCodexWindows(p *place, task string) ([]string, []string, error) {
	args, env, err := hostCodex(p, task)
	return append([]string{args[0], "-c", "features.token_budget.enabled=true"}, args[1:]...), env, err
}

func hostQwen(p *place, task string) ([]string, []string, error) {
	args, env, err := qwenCommand("chat", "")(p)
	if err == nil {
		settings := object{"model": object{"generationConfig": object{"contextWindowSize": qwenSmall}}}
		_, err = p.writeJSON(settings, p.home, ".qwen", "settings.json")
	}
	return replaced(args, task), env, err
}

// hostGemini compresses at 25,000 tokens, and only between the user's turns.
func hostGemini(p *place, task string) ([]string, []string, error) {
	_, err := p.writeJSON(object{
		"model": object{"compressionThreshold": 0.025, "name": geminiModel},
		"security": object{"auth": object{"selectedType": "gemini-api-key"},
			"folderTrust": object{"enabled": false}},
		"privacy": object{"usageStatisticsEnabled": false}, "general": object{"enableAutoUpdate": false},
	}, p.home, ".gemini", "settings.json")
	env := []string{"GEMINI_API_KEY=" + geminiKey, "GOOGLE_GEMINI_BASE_URL=" + p.base,
		"GEMINI_CLI_TRUST_WORKSPACE=true"}
	return []string{p.bin(geminiCLI, "gemini"), "-m", geminiModel, "-y", "-p", task}, env, err
}

// The model has a window of a million tokens in the program's own table.
const (
	geminiModel = "gemini-2.5-pro"
	geminiKey   = "test-key"
)

func geminiAgain(p *place) []string {
	return []string{p.bin(geminiCLI, "gemini"), "-m", geminiModel, "-y", "--resume", "latest", "-p", goOn}
}

func hostOpencode(p *place, task string) ([]string, []string, error) {
	args, env, err := opencodeCommand("chat")(p)
	if err == nil {
		err = rewrite(filepath.Join(p.config, "opencode.json"), `"context": `+ample,
			fmt.Sprint(`"context": `, small))
	}
	return replaced(args, task), env, err
}

func hostPi(k pkg) func(*place, string) ([]string, []string, error) {
	return func(p *place, task string) ([]string, []string, error) {
		args, env, err := piCommand(k, "anthropic")(p)
		if err == nil {
			const key = `"contextWindow": `
			err = rewrite(filepath.Join(p.config, "models.json"), key+ample, fmt.Sprint(key, small))
		}
		return replaced(args, task), env, err
	}
}

func hostCline(p *place, task string) ([]string, []string, error) {
	args, env, err := clineCommand(p)
	return replaced(args, task), env, err
}

func rewrite(path, old, text string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Contains(data, []byte(old)) {
		return fmt.Errorf("%s does not say %s", path, old)
	}
	return os.WriteFile(path, bytes.ReplaceAll(data, []byte(old), []byte(text)), 0o600)
}
