package host_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis/internal/jsonedit"
)

// names are member names: the user's own, and names that precis writes, too.
var names = []string{"a", "b", "model", "hooks", "mcpServers", "ui", "env"}

// value draws a member's value that precis can live with under its name.
func value(r *rapid.T, name string) any {
	number := rapid.IntRange(0, 9).Draw(r, "number")
	group := map[string]any{"hooks": []any{map[string]any{"type": "command", "command": fmt.Sprint("mine ", number)}}}
	switch name {
	case "hooks":
		event := rapid.SampledFrom([]string{"SessionStart", "PreCompact", "Stop"}).Draw(r, "event")
		return map[string]any{event: []any{group}}
	case "mcpServers", "ui", "env":
		return map[string]any{fmt.Sprint("x", number): map[string]any{"command": "y"}}
	}
	return []any{number, "text, with { and // inside"}
}

// Whatever the user changes in settings with precis installed, removal keeps it and leaves no trace
// of precis.
func TestRandomChangesStay(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp("", "precis-host-")
		if err != nil {
			r.Fatal(err)
		}
		defer os.RemoveAll(dir)
		m := machine(dir)
		name := rapid.SampledFrom([]string{"claude-code", "codex", "qwen"}).Draw(r, "host")
		path := filepath.Join(m.Home, places[name][0])
		style := rapid.SampledFrom([]string{"", "{}", "{\n}\n", "{\n\t// mine\n}\n", "{\r\n}\r\n", "\xef\xbb\xbf{}\n", "{ /* one */ }"}).Draw(r, "style")
		// The same changes are made in a file that precis never sees.
		var without, with *jsonedit.Doc
		parse := func(text string) *jsonedit.Doc {
			d, err := jsonedit.Parse([]byte(text))
			if err != nil {
				r.Fatalf("%v in %q", err, text)
			}
			return d
		}
		without = parse(style)
		change := func(docs ...*jsonedit.Doc) {
			member := rapid.SampledFrom(names).Draw(r, "member")
			v := value(r, member)
			gone := rapid.IntRange(0, 4).Draw(r, "gone") == 0
			for _, d := range docs {
				o, deep := v.(map[string]any)
				switch {
				case !deep && gone:
					d.Remove(member)
				case !deep:
					if err := d.Set(v, member); err != nil {
						r.Fatal(err)
					}
				default:
					for k, v := range o {
						list, is := v.([]any)
						if is {
							if err := d.Append(list[0], member, k); err != nil {
								r.Fatal(err)
							}
						} else if err := d.Set(v, member, k); err != nil {
							r.Fatal(err)
						}
					}
				}
			}
		}
		for range rapid.IntRange(0, 4).Draw(r, "before") {
			change(without)
		}
		write(r, path, string(without.Bytes()))
		install(r, m, name)
		with = parse(read(r, path))
		for range rapid.IntRange(0, 4).Draw(r, "after") {
			change(without, with)
		}
		write(r, path, string(with.Bytes()))
		if rapid.Bool().Draw(r, "again") {
			m.Binary = "/opt/a b/precis"
			install(r, m, name)
		}
		uninstall(r, m, name)
		data, err := os.ReadFile(path)
		if err != nil {
			r.Fatal(err)
		}
		if strings.Contains(string(data), "precis") {
			r.Fatalf("of precis there is left: %s", data)
		}
		var got, want any
		for v, text := range map[*any][]byte{&got: parse(string(data)).Get(), &want: without.Get()} {
			if err := json.Unmarshal(text, v); err != nil {
				r.Fatal(err)
			}
		}
		if !reflect.DeepEqual(got, want) {
			r.Fatalf("it holds\n%s\nwant\n%s", data, without.Bytes())
		}
	})
}
