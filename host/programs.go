package host

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/precis-dev/precis/internal/jsonedit"
)

//go:embed plugins
var plugins embed.FS

// plugin returns an embedded file of a program, with the path of precis inserted.
func plugin(m Machine, name string) []byte {
	text, err := plugins.ReadFile("plugins/" + name)
	if err != nil {
		panic(err) // cannot happen: the file is embedded
	}
	path, err := json.Marshal(m.binary())
	if err != nil {
		panic(err) // cannot happen: a text always encodes
	}
	text = bytes.Replace(text, []byte(`"PRECIS"`), path, 1)
	if m.ModelSummary {
		text = bytes.Replace(text, []byte("const MODEL = false;"), []byte("const MODEL = true;"), 1)
	}
	return text
}

func (m Machine) binary() string { return cmp.Or(m.Binary, "precis") }

// answered is the longest time, in seconds, that an agent waits for a hook. precis answers within
// five, see package hook.
const answered = 6

func claudeCode() Host {
	const name, module = "claude-code", "precis.ts"
	folder := func(m Machine) string { return m.env("CLAUDE_CONFIG_DIR", m.home(".claude")) }
	return Host{
		Name: name, Title: "Claude Code", Version: "2.1.332", command: "claude", folder: folder,
		Effect: "each compaction is precis's own, without a model call; where plugins may not do that, the model gets a digest of what was hidden, and what the summary lacks; " +
			"tools over MCP; a status line",
		NextSteps: "it acts in sessions that begin from now on",
		parts: func(m Machine) []part {
			own := m.precisFolder(name)
			inside := filepath.Join(own, "precis")
			about := "Gives back what a compaction loses. Written by precis install claude-code."
			source := map[string]string{"source": "directory", "path": own}
			notes := filepath.Join(folder(m), "plugins", "installed_plugins.json")
			noted := settings(notes, nil, func(d, _ *jsonedit.Doc) { d.Remove("plugins", "precis@precis") })
			noted.add, noted.folder = nil, filepath.Join(folder(m), "plugins", "data", "precis-precis")
			return []part{
				noted,
				whole(filepath.Join(own, ".claude-plugin", "marketplace.json"), pretty(map[string]any{
					"name": "precis", "description": about, "owner": map[string]string{"name": "precis"},
					"plugins": []any{map[string]string{"name": "precis", "source": "./precis",
						"description": about}},
				})),
				whole(filepath.Join(inside, ".claude-plugin", "plugin.json"), pretty(map[string]any{
					"name": "precis", "version": cmp.Or(m.Version, "0"), "description": about,
					"author": map[string]string{"name": "precis"},
				})),
				whole(filepath.Join(inside, ".mcp.json"), pretty(map[string]any{
					"mcpServers": map[string]any{"precis": server(m, "CLAUDE_CONFIG_DIR")},
				})),
				whole(filepath.Join(inside, "hooks", module), plugin(m, "claude-code.ts")),
				whole(filepath.Join(inside, "hooks", "hooks.json"), encodeByEvent([]eventHook{
					{"SessionStart", group{"compact",
						[]command{run(m.hook(name, "session-start"), answered)}}},
					// No hook at PostCompact: Claude Code shows the user the command and its
					// output.
					{"PostToolBatch", group{"", []command{run(m.whenWaiting("hook "+name+" pending"),
						answered)}}},
					{"UserPromptSubmit", group{"",
						[]command{run(m.whenWaiting("hook "+name+" pending"), answered)}}},
				}, "./"+module)),
				settings(filepath.Join(folder(m), "settings.json"), func(d *jsonedit.Doc) error {
					if err := d.Set(map[string]any{"source": source}, "extraKnownMarketplaces",
						"precis"); err != nil {
						return err
					}
					if err := d.Set(true, "enabledPlugins", "precis@precis"); err != nil {
						return err
					}
					return addStatusLine(d, m, name, "statusLine")
				}, func(d, was *jsonedit.Doc) {
					restoreMember(d, was, isOwnMarketplace, "extraKnownMarketplaces", "precis")
					restoreMember(d, was, func(v json.RawMessage) bool { return string(v) == "true" },
						"enabledPlugins", "precis@precis")
					removeStatusLine(d, was, name, "statusLine")
				}),
				// Claude Code writes this entry for a marketplace at the end of the first session
				// that knows it. Before 2.1.330 it loads the plugin in that session only if the
				// entry exists.
				settings(filepath.Join(folder(m), "plugins", "known_marketplaces.json"),
					func(d *jsonedit.Doc) error {
						if isOwnMarketplace(d.Get("precis")) && bytes.Contains(d.Get("precis"),
							[]byte(strconv.Quote(own))) {
							return nil
						}
						return d.Set(map[string]any{"source": source, "installLocation": own,
							"lastUpdated": "2000-01-01T00:00:00.000Z"}, "precis")
					}, func(d, was *jsonedit.Doc) {
						if isOwnMarketplace(d.Get("precis")) {
							d.Remove("precis")
						}
					}),
			}
		},
		warn: func(m Machine) []string {
			path := filepath.Join(folder(m), "settings.json")
			out := switchedOff(path, "true", "disableAllHooks")
			if data, err := os.ReadFile(path); err == nil && !json.Valid(data) {
				out = append(out, "Claude Code takes nothing from "+path+
					", since it holds comments or is no JSON")
			}
			return out
		},
	}
}

// isOwnMarketplace reports whether a marketplace is a folder written by precis on any machine.
func isOwnMarketplace(value json.RawMessage) bool {
	var v struct {
		Source struct {
			Source string `json:"source"`
			Path   string `json:"path"`
		} `json:"source"`
	}
	return json.Unmarshal(value, &v) == nil && v.Source.Source == "directory" &&
		strings.HasSuffix(filepath.ToSlash(v.Source.Path), "/plugins/claude-code")
}

// switchedOff warns about a setting that disables hooks.
func switchedOff(path, value string, member ...string) []string {
	if string(readSetting(path, member...)) != value {
		return nil
	}
	return []string{"hooks are switched off: " + strings.Join(member, ".") + " in " + path}
}

func codex() Host {
	const name = "codex"
	folder := func(m Machine) string { return m.env("CODEX_HOME", m.home(".codex")) }
	return Host{
		Name: name, Title: "Codex", Version: "0.171.0", command: "codex", folder: folder,
		Effect:    "after a compaction the model gets what the summary lacks; tools over MCP",
		NextSteps: "Codex runs a new hook only once you trust it: open codex, type /hooks, and trust the one of precis; or run precis install codex --trust",
		parts: func(m Machine) []part {
			start := run(m.hook(name, "session-start"), answered)
			start.Limit = 24_000
			hooks := filepath.Join(folder(m), "hooks.json")
			block := "[mcp_servers.precis]\ncommand = " + strconv.Quote(m.binary()) + "\nargs = [\"mcp\"]\n"
			for variable, moved := range server(m, "CODEX_HOME").Env {
				// Codex does not pass its own environment to servers
				block += "env = { " + variable + " = " + strconv.Quote(moved) + " }\n"
			}
			config := tomlBlock(filepath.Join(folder(m), "config.toml"), "mcp_servers.precis", block)
			without := config.remove
			config.remove = func(now, was []byte) ([]byte, error) {
				rest, err := without(now, was)
				return forgetTrust(rest, was, hooks), err
			}
			return []part{
				settings(hooks, func(d *jsonedit.Doc) error {
					return addHooks(d, []eventHook{{"SessionStart", group{"compact", []command{start}}}})
				}, func(d, was *jsonedit.Doc) { removeHooks(d, was, name) }),
				config,
			}
		},
	}
}

func qwen() Host {
	const name = "qwen"
	folder := func(m Machine) string { return m.env("QWEN_HOME", m.home(".qwen")) }
	return Host{
		Name: name, Title: "Qwen Code", Version: "0.24.4", command: "qwen", folder: folder,
		Effect: "the summary is told what it has to keep; from the second request on the model has what the summary lacks; tools over MCP; a status line",
		parts: func(m Machine) []part {
			return []part{settings(filepath.Join(folder(m), "settings.json"), func(d *jsonedit.Doc) error {
				err := addHooks(d, []eventHook{
					{"PreCompact", group{"", []command{run(m.hook(name, "pre-compact"), answered)}}},
					{"PostCompact", group{"", []command{run(m.hook(name, "post-compact"), answered)}}},
					{"SessionStart", group{"compact",
						[]command{run(m.hook(name, "session-start"), answered)}}},
				})
				if err != nil {
					return err
				}
				if err := addServer(d, m, "QWEN_HOME"); err != nil {
					return err
				}
				return addStatusLine(d, m, name, "ui", "statusLine")
			}, func(d, was *jsonedit.Doc) {
				removeHooks(d, was, name)
				removeServer(d, was)
				removeStatusLine(d, was, name, "ui", "statusLine")
			})}
		},
		warn: func(m Machine) []string {
			return switchedOff(filepath.Join(folder(m), "settings.json"), "true", "disableAllHooks")
		},
	}
}

func gemini() Host {
	const name = "gemini"
	folder := func(m Machine) string { return filepath.Join(m.env("GEMINI_CLI_HOME", m.Home), ".gemini") }
	return Host{
		Name: name, Title: "Gemini CLI", Version: "0.61.0", command: "gemini", folder: folder,
		Effect: "after a compression the model gets, with the next result of a tool or prompt, what the snapshot lacks; tools over MCP",
		parts: func(m Machine) []part {
			own := filepath.Join(folder(m), "extensions", "precis")
			const limit = 6_000 // in milliseconds
			tools := server(m, "GEMINI_CLI_HOME")
			tools.Timeout = 15_000 // the default for a hanging server is ten minutes
			return []part{
				whole(filepath.Join(own, "gemini-extension.json"), pretty(map[string]any{
					"name": "precis", "version": cmp.Or(strings.TrimPrefix(m.Version, "v"), "0.0.0"),
					"description": "Gives back what a compression loses. Written by precis install gemini.",
					"mcpServers":  map[string]any{"precis": tools},
				})),
				whole(filepath.Join(own, "hooks", "hooks.json"), encodeByEvent([]eventHook{
					{"AfterTool", group{"", []command{run(m.guarded(name, "pending"), limit)}}},
					{"BeforeAgent", group{"", []command{run(m.guarded(name, "pending"), limit)}}},
				})),
			}
		},
		warn: func(m Machine) []string {
			return switchedOff(filepath.Join(folder(m), "settings.json"), "false", "hooksConfig", "enabled")
		},
	}
}

func opencode() Host {
	folder := func(m Machine) string { return filepath.Join(m.config(), "opencode") }
	return Host{
		Name: "opencode", Title: "opencode", Version: "1.18.33", command: "opencode", folder: folder,
		gates:  true,
		Effect: "each summary is precis's own, without a model call; with --model-summary the model's, and what it lacks",
		parts: func(m Machine) []part {
			return []part{whole(filepath.Join(folder(m), "plugins", "precis.js"), plugin(m, "opencode.js"))}
		},
	}
}

func pi() Host {
	folder := func(m Machine) string { return m.env("PI_CODING_AGENT_DIR", m.home(".pi", "agent")) }
	return Host{
		Name: "pi", Title: "pi", Version: "1.6.0", command: "pi", folder: folder,
		Effect: "pi's own entries shorten the context, without a model call; a tool that brings back originals; a status line",
		parts: func(m Machine) []part {
			return []part{whole(filepath.Join(folder(m), "extensions", "precis.ts"), plugin(m, "pi.ts"))}
		},
	}
}

func cline() Host {
	folder := func(m Machine) string { return m.env("CLINE_DIR", m.home(".cline")) }
	return Host{
		Name: "cline", Title: "Cline (command line)", Version: "3.0.65", command: "cline", folder: folder,
		Effect:    "precis keeps each request inside the window, as its gateway does; Cline sends its view",
		NextSteps: "start it with cline --compaction off, so that Cline leaves that to precis",
		parts: func(m Machine) []part {
			return []part{whole(filepath.Join(folder(m), "plugins", "precis.js"), plugin(m, "cline.js"))}
		},
	}
}

func hermes() Host {
	folder := func(m Machine) string { return m.env("HERMES_HOME", m.home(".hermes")) }
	return Host{
		Name: "hermes", Title: "Hermes", command: "hermes", folder: folder,
		Effect:    "precis keeps each request inside the window, as its gateway does; Hermes keeps every message; a tool that brings back originals",
		NextSteps: "it acts in sessions that begin from now on; if Hermes says that it does not find the engine, run hermes plugins enable precis",
		parts: func(m Machine) []part {
			own := filepath.Join(folder(m), "plugins", "precis")
			about := "name: precis\nversion: " + strconv.Quote(cmp.Or(m.Version, "0")) +
				"\ndescription: Each request is a view that fits; nothing is lost. Written by precis install hermes.\n"
			return []part{
				whole(filepath.Join(own, "__init__.py"), plugin(m, "hermes.py")),
				whole(filepath.Join(own, "plugin.yaml"), []byte(about)),
				yamlValue(filepath.Join(folder(m), "config.yaml"), "precis", "context", "engine"),
			}
		},
	}
}
