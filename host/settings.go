package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/precis-dev/precis/internal/jsonedit"
	"github.com/precis-dev/precis/internal/yamledit"
)

// settings is a user's JSON file. Precis adds single members. Remove gets the file and its
// original, which is an empty object if unknown.
func settings(path string, add func(*jsonedit.Doc) error, remove func(d, was *jsonedit.Doc)) part {
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
		remove: func(now, was []byte) ([]byte, error) {
			if !bytes.Contains(now, []byte("precis")) {
				return now, nil
			}
			d, err := jsonedit.Parse(now)
			if err != nil {
				return nil, err
			}
			before, err := jsonedit.Parse(was)
			if err != nil {
				return nil, err
			}
			remove(d, before)
			if rest := d.Bytes(); was != nil || string(bytes.TrimSpace(rest)) != "{}" {
				return rest, nil
			}
			return nil, nil // there is no record of an original file
		},
	}
}

// command is a hook in the settings of Claude Code, Codex and Qwen Code.
type command struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty"`                // in the program's own unit
	Limit   int    `json:"additionalContextLimit,omitempty"` // in characters; only Codex
}

// group is an element of an event's list.
type group struct {
	Matcher string    `json:"matcher,omitempty"`
	Hooks   []command `json:"hooks"`
}

// run makes a command from a command line.
func run(line string, timeout int) command {
	return command{Type: "command", Command: line, Timeout: timeout}
}

// eventHook holds the hooks of one event.
type eventHook struct {
	event string
	group group
}

// encodeByEvent encodes hooks as the file of a plugin.
func encodeByEvent(all []eventHook, modules ...string) []byte {
	events := map[string][]group{}
	for _, h := range all {
		events[h.event] = append(events[h.event], h.group)
	}
	file := map[string]any{"hooks": events}
	if len(modules) > 0 {
		file["modules"] = modules
	}
	return pretty(file)
}

// pretty formats a value as indented JSON.
func pretty(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		panic(err) // cannot happen: texts and numbers always encode
	}
	return b.Bytes()
}

// addHooks adds hooks to settings, after the existing ones.
func addHooks(d *jsonedit.Doc, all []eventHook) error {
	for _, h := range all {
		if err := d.Append(h.group, "hooks", h.event); err != nil {
			return err
		}
	}
	return nil
}

// removeHooks removes precis's hooks for a program from settings, and the objects left empty.
func removeHooks(d, was *jsonedit.Doc, host string) {
	var events map[string]json.RawMessage
	if json.Unmarshal(d.Get("hooks"), &events) != nil {
		return
	}
	removed := false
	for event := range events {
		var groups []json.RawMessage
		if json.Unmarshal(events[event], &groups) != nil {
			continue
		}
		n := d.RemoveIf(func(raw json.RawMessage) bool { return hasOnlyOurHooks(raw, host) }, "hooks", event)
		for i := range len(groups) - n { // the remaining groups also have hooks of the user
			n += d.RemoveIf(func(raw json.RawMessage) bool { return isOurs(raw, host) }, "hooks", event,
				strconv.Itoa(i), "hooks")
		}
		removed = removed || n > 0
		if n > 0 && string(d.Get("hooks", event)) == "[]" && was.Get("hooks", event) == nil {
			d.Remove("hooks", event)
		}
	}
	if removed {
		removeEmpty(d, was, "hooks")
	}
}

// removeEmpty removes an empty object unless the original file had it.
func removeEmpty(d, was *jsonedit.Doc, path ...string) {
	if string(d.Get(path...)) == "{}" && was.Get(path...) == nil {
		d.Remove(path...)
	}
}

// hasOnlyOurHooks reports whether a group has only hooks of precis.
func hasOnlyOurHooks(raw json.RawMessage, host string) bool {
	var g struct {
		Hooks []json.RawMessage `json:"hooks"`
	}
	if json.Unmarshal(raw, &g) != nil || len(g.Hooks) == 0 {
		return false
	}
	for _, h := range g.Hooks {
		if !isOurs(h, host) {
			return false
		}
	}
	return true
}

// isOurs reports whether a hook belongs to precis.
func isOurs(raw json.RawMessage, host string) bool {
	var c command
	return json.Unmarshal(raw, &c) == nil && isOurHook(c.Command, host)
}

// addServer adds the MCP server unless the user has one with that name.
func addServer(d *jsonedit.Doc, m Machine, variable string) error {
	if d.Get("mcpServers", "precis") != nil {
		return nil
	}
	return d.Set(server(m, variable), "mcpServers", "precis")
}

// removeServer removes the MCP server unless it is the user's own.
func removeServer(d, was *jsonedit.Doc) {
	var s struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	if json.Unmarshal(d.Get("mcpServers", "precis"), &s) != nil || !isPrecis(s.Command) ||
		!slices.Equal(s.Args, []string{"mcp"}) {
		return
	}
	if was.Get("mcpServers", "precis") == nil && d.Remove("mcpServers", "precis") {
		removeEmpty(d, was, "mcpServers")
	}
}

// mcpServer is an MCP server in the settings of most programs.
type mcpServer struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
	// variables that move a program's folder: not all programs pass theirs on
	Env map[string]string `json:"env,omitempty"`
	// for answers, in the program's own unit; 0: the program's default
	Timeout int `json:"timeout,omitempty"`
}

// server is the MCP server for a program; variable is the environment variable that moves its
// folder.
func server(m Machine, variable string) mcpServer {
	s := mcpServer{Command: m.binary(), Args: []string{"mcp"}}
	if moved := m.env(variable, ""); moved != "" {
		s.Env = map[string]string{variable: moved}
	}
	return s
}

// addStatusLine adds the status line unless the user has one.
func addStatusLine(d *jsonedit.Doc, m Machine, host string, path ...string) error {
	if d.Get(path...) != nil {
		return nil
	}
	return d.Set(run(shellOf(host).guard(m.binary(), "statusline "+host), 0), path...)
}

// removeStatusLine removes the status line unless it is the user's own.
func removeStatusLine(d, was *jsonedit.Doc, host string, path ...string) {
	var c command
	if json.Unmarshal(d.Get(path...), &c) != nil || was.Get(path...) != nil {
		return
	}
	if before, _, ok := strings.Cut(unguarded(c.Command), " statusline "+host); !ok || !isPrecis(before) {
		return
	}
	d.Remove(path...)
	if len(path) > 1 {
		removeEmpty(d, was, path[:len(path)-1]...)
	}
}

// restoreMember restores a member's original value. A value by precis without an original is removed,
// and its object too if that is empty then.
func restoreMember(d, was *jsonedit.Doc, mine func(json.RawMessage) bool, object, name string) {
	if !mine(d.Get(object, name)) {
		return
	}
	if value := was.Get(object, name); value != nil {
		_ = d.Set(value, object, name) // cannot fail: the member exists
		return
	}
	d.Remove(object, name)
	removeEmpty(d, was, object)
}

// tomlBlock is a user's TOML file. A block is added at its end unless the table exists already.
func tomlBlock(path, table, block string) part {
	const begin, end = "# precis begin: written by precis install, removed by precis uninstall", "# precis end"
	return part{
		path: path,
		add: func(before []byte) ([]byte, error) {
			if has, err := hasTable(before, table); err != nil || has {
				return nonNil(before), err
			}
			if parent, _, _ := strings.Cut(table, "."); inBraces(before, parent) {
				return nil, fmt.Errorf("a table %s cannot be added: %s is written in braces, to which TOML lets nobody add; write it as tables such as [%s.NAME]", table, parent, parent)
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
		remove: func(now, _ []byte) ([]byte, error) {
			from := bytes.Index(now, []byte(begin))
			if from < 0 {
				return now, nil
			}
			to := bytes.Index(now[from:], []byte(end))
			if to < 0 {
				return now, nil // the user has edited the block
			}
			to += from
			others := otherTables(now[from:to], table)
			rest := bytes.TrimLeft(now[to+len(end):], "\r")
			rest, _ = bytes.CutPrefix(rest, []byte("\n"))
			head := now[:from]
			head = bytes.TrimSuffix(bytes.TrimSuffix(head, []byte("\n")), []byte("\r"))
			return slices.Concat(head, others, rest), nil
		},
	}
}

// yamlValue is a user's YAML file where one value is set.
func yamlValue(path, value string, keys ...string) part {
	return part{
		path: path,
		add: func(before []byte) ([]byte, error) {
			return yamledit.Set(before, yamledit.Text(value), keys...)
		},
		remove: func(now, was []byte) ([]byte, error) {
			set, err := yamledit.Get(now, keys...)
			if err != nil || set.Text != value {
				return now, err
			}
			if old, err := yamledit.Get(was, keys...); err == nil && old.Text != "" {
				return yamledit.Set(now, yamledit.Text(old.Text), keys...)
			}
			return withoutValue(now, was, keys)
		},
	}
}

// withoutValue removes a value. It removes the mapping around it too if that is empty then and was
// not in the original.
func withoutValue(now, was []byte, keys []string) ([]byte, error) {
	rest, err := yamledit.Remove(now, keys...)
	if err != nil || len(keys) == 1 {
		return rest, err
	}
	holder := keys[:len(keys)-1]
	left, err := yamledit.Get(rest, holder...)
	if err != nil || !left.Empty {
		return rest, err
	}
	if before, err := yamledit.Get(was, holder...); err != nil || before.There {
		return rest, err
	}
	return yamledit.Remove(rest, holder...)
}

// inBraces reports whether a table is written inline as the value of a key: {…}.
func inBraces(data []byte, table string) bool {
	for line := range bytes.Lines(data) {
		text := strings.TrimSpace(strings.TrimPrefix(string(line), "\ufeff"))
		if strings.HasPrefix(text, "[") {
			return false // the following keys are in other tables
		}
		if key, _, ok := strings.Cut(text, "="); ok && strings.Trim(strings.TrimSpace(key), `"'`) == table {
			return true
		}
	}
	return false
}

// otherTables returns the content of a block after a table. A program that writes its own settings,
// as Codex does, inserts tables before the final comment of the file, and so within the block.
func otherTables(block []byte, table string) []byte {
	at, within := 0, false
	for line := range bytes.Lines(block) {
		name, header := bytes.CutPrefix(bytes.TrimSpace(line), []byte("["))
		switch {
		case header && (bytes.HasPrefix(name, []byte(table+"]")) || bytes.HasPrefix(name, []byte(table+"."))):
			within = true
		case header && within:
			return block[at:]
		}
		at += len(line)
	}
	return nil
}

// hasTable reports whether a TOML document has a table with a dotted name.
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

// readSetting returns a member of a JSON settings file; nil: not there.
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
