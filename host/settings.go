package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/BurntSushi/toml"

	"precis/internal/jsonedit"
)

// settings is a JSON file of the user, in which single members are added.
func settings(path string, add func(*jsonedit.Doc) error, remove func(*jsonedit.Doc)) part {
	return part{
		path: path,
		add: func(before []byte) ([]byte, error) {
			d, err := jsonedit.Parse(before)
			if err != nil {
				return nil, err
			}
			if err := add(d); err != nil {
				return nil, err
			}
			return d.Bytes(), nil
		},
		remove: func(now []byte) ([]byte, error) {
			if !bytes.Contains(now, []byte("precis")) {
				return now, nil
			}
			d, err := jsonedit.Parse(now)
			if err != nil {
				return nil, err
			}
			remove(d)
			return d.Bytes(), nil
		},
	}
}

// command is a hook as Claude Code, Codex and Qwen Code have it in their settings.
type command struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty"`                // in the program's own unit
	Limit   int    `json:"additionalContextLimit,omitempty"` // in characters, see Codex
}

// group is what an event's list holds.
type group struct {
	Matcher string    `json:"matcher,omitempty"`
	Hooks   []command `json:"hooks"`
}

// run makes a command of a command line.
func run(line string, timeout int) command {
	return command{Type: "command", Command: line, Timeout: timeout}
}

// on is the hooks of one event.
type on struct {
	event string
	group group
}

// byEvent is hooks as a plugin's own file has them.
func byEvent(all []on) []byte {
	events := map[string][]group{}
	for _, h := range all {
		events[h.event] = append(events[h.event], h.group)
	}
	return pretty(map[string]any{"hooks": events})
}

// pretty is a value as JSON for people.
func pretty(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		panic(err) // texts and numbers always can be
	}
	return b.Bytes()
}

// addHooks adds hooks to settings, behind those that are there.
func addHooks(d *jsonedit.Doc, all []on) error {
	for _, h := range all {
		if err := d.Append(h.group, "hooks", h.event); err != nil {
			return err
		}
	}
	return nil
}

// removeHooks removes the hooks of precis for a program from settings, and what is empty
// then.
func removeHooks(d *jsonedit.Doc, host string) {
	var events map[string]json.RawMessage
	if json.Unmarshal(d.Get("hooks"), &events) != nil {
		return
	}
	removed := false
	for event := range events {
		n := d.RemoveIf(func(raw json.RawMessage) bool { return allOurs(raw, host) }, "hooks", event)
		removed = removed || n > 0
		if n > 0 && string(d.Get("hooks", event)) == "[]" {
			d.Remove("hooks", event)
		}
	}
	if removed && string(d.Get("hooks")) == "{}" {
		d.Remove("hooks")
	}
}

// allOurs reports whether a group holds hooks of precis alone.
func allOurs(raw json.RawMessage, host string) bool {
	var g group
	if json.Unmarshal(raw, &g) != nil || len(g.Hooks) == 0 {
		return false
	}
	for _, h := range g.Hooks {
		if !ours(h.Command, host) {
			return false
		}
	}
	return true
}

// addServer adds the MCP server where the user has none of that name.
func addServer(d *jsonedit.Doc, m Machine) error {
	if d.Get("mcpServers", "precis") != nil {
		return nil
	}
	return d.Set(server(m), "mcpServers", "precis")
}

func removeServer(d *jsonedit.Doc) {
	if d.Remove("mcpServers", "precis") && string(d.Get("mcpServers")) == "{}" {
		d.Remove("mcpServers")
	}
}

// server is the MCP server as most programs have it in their settings.
func server(m Machine) any {
	return struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}{m.binary(), []string{"mcp"}}
}

// addStatusLine adds the status line where the user has none.
func addStatusLine(d *jsonedit.Doc, m Machine, host string, path ...string) error {
	if d.Get(path...) != nil {
		return nil
	}
	return d.Set(run(m.quoted()+" statusline "+host, 0), path...)
}

func removeStatusLine(d *jsonedit.Doc, host string, path ...string) {
	var c command
	if json.Unmarshal(d.Get(path...), &c) == nil && strings.HasSuffix(c.Command, " statusline "+host) && strings.Contains(c.Command, "precis") {
		d.Remove(path...)
		if len(path) > 1 && string(d.Get(path[:len(path)-1]...)) == "{}" {
			d.Remove(path[:len(path)-1]...)
		}
	}
}

// tomlBlock is a TOML file of the user, at whose end a block is added unless it has a
// table of that name.
func tomlBlock(path, table, block string) part {
	const begin, end = "# precis begin: written by precis install, removed by precis uninstall", "# precis end"
	return part{
		path: path,
		add: func(before []byte) ([]byte, error) {
			if has, err := hasTable(before, table); err != nil || has {
				return nonNil(before), err
			}
			text := begin + "\n" + block + end + "\n"
			if len(before) > 0 {
				text = "\n" + text
				if !bytes.HasSuffix(before, []byte("\n")) {
					text = "\n" + text
				}
			}
			if bytes.Contains(before, []byte("\r\n")) {
				text = strings.ReplaceAll(text, "\n", "\r\n")
			}
			after := append(bytes.Clone(before), text...)
			if _, err := hasTable(after, table); err != nil {
				return nil, fmt.Errorf("a table %s cannot be added: %w", table, err)
			}
			return after, nil
		},
		remove: func(now []byte) ([]byte, error) {
			from := bytes.Index(now, []byte(begin))
			if from < 0 {
				return now, nil
			}
			to := bytes.Index(now[from:], []byte(end))
			if to < 0 {
				return now, nil // the user has taken it over
			}
			to += from + len(end)
			rest := bytes.TrimLeft(now[to:], "\r")
			rest, _ = bytes.CutPrefix(rest, []byte("\n"))
			head := now[:from]
			head = bytes.TrimSuffix(bytes.TrimSuffix(head, []byte("\n")), []byte("\r"))
			return append(bytes.Clone(head), rest...), nil
		},
	}
}

// hasTable reports whether a TOML document has a table of a dotted name.
func hasTable(data []byte, table string) (bool, error) {
	var doc map[string]any
	if err := toml.Unmarshal(data, &doc); err != nil {
		return false, err
	}
	for name := range strings.SplitSeq(table, ".") {
		next, ok := doc[name]
		if !ok {
			return false, nil
		}
		if doc, ok = next.(map[string]any); !ok {
			return true, nil
		}
	}
	return true, nil
}

// readSetting returns a member of a JSON file of settings; nil when there is none.
func readSetting(path string, member ...string) json.RawMessage {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	d, err := jsonedit.Parse(data)
	if err != nil {
		return nil
	}
	return d.Get(member...)
}
