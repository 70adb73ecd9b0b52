package upstream

import (
	"encoding/json"
	"testing"
)

func TestToolIsChosenAndFilledIn(t *testing.T) {
	tests := []struct{ name, tools, want string }{
		{"path by name", `[{"name":"Bash","schema":{"properties":{"command":{"type":"string"}}}},{"name":"Read","schema":{"properties":{"file_path":{"type":"string"},"limit":{"type":"integer"}}}}]`, `Read {"file_path":"/p/a"}`},
		{"list of objects", `[{"name":"read_files","schema":{"properties":{"files":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"}}}}}}}]`, `read_files {"files":[{"path":"/p/a"}]}`},
		{"list behind alternatives", `[{"name":"read_files","schema":{"properties":{"paths":{"anyOf":[{"type":"null"},{"type":"array","items":{"type":"string"}}]}}}}]`, `read_files {"paths":["/p/a"]}`},
		{"command as text", `[{"name":"exec_command","schema":{"properties":{"cmd":{"type":"string"},"why":{"type":"string"},"quiet":{"type":"boolean"},"mode":{"enum":["x","y"]}},"required":["cmd","why","quiet","mode"]}}]`, `exec_command {"cmd":"cat /p/a","mode":"x","quiet":false,"why":"reading a file"}`},
		{"command as words", `[{"name":"shell","schema":{"properties":{"command":{"type":"array","items":{"type":"string"}}}}}]`, `shell {"command":["cat","/p/a"]}`},
		{"list of commands", `[{"name":"run_commands","schema":{"properties":{"commands":{"type":"array","items":{"type":"string"}}}}}]`, `run_commands {"commands":["cat /p/a"]}`},
		{"by the schema alone", `[{"name":"think","schema":{}},{"name":"my_terminal","schema":{"properties":{"command":{"type":["string","null"]}}}}]`, `my_terminal {"command":"cat /p/a"}`},
		{"code", `[{"name":"exec","free":true},{"name":"apply_patch","free":true}]`, `exec text(await tools.exec_command({"cmd":"cat /p/a"}));`},
		{"free text", `[{"name":"shell","free":true}]`, `shell cat /p/a`},
		{"nothing that reads", `[{"name":"apply_patch","free":true},{"name":"write_file","schema":{"properties":{"path":{"type":"string"}}}}]`, ``},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var offered []struct {
				Name   string
				Schema object
				Free   bool
			}
			if err := json.Unmarshal([]byte(test.tools), &offered); err != nil {
				t.Fatal(err)
			}
			var tools []tool
			for _, o := range offered {
				tools = append(tools, tool{o.Name, o.Schema, o.Free})
			}
			got := ""
			if best, ok := reader(tools); ok {
				c := best.read("id", "/p/a")
				got = best.name + " " + c.free
				if !best.free {
					got += string(encode(c.args))
				}
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestCustomToolIsCalledWithText(t *testing.T) {
	s := start(t, Options{Files: files(2)})
	for _, d := range []*dialect{responsesDialect, chatDialect} {
		for _, stream := range []bool{false, true} {
			c := newTalk(t, s, d)
			c.body["tools"] = []any{object{"type": "custom", "name": "exec", "custom": object{"name": "exec"}}}
			if d == chatDialect {
				c.body["tools"] = []any{object{"type": "custom", "custom": object{"name": "exec"}}}
				if stream {
					continue // put together by hand only where calls are functions
				}
			}
			c.body["stream"] = stream
			if _, out := c.send(); !json.Valid(encode(out)) || !containsAll(string(encode(out)), "exec_command", "/p/file01.txt", "custom") {
				t.Errorf("%s: %v", d.name, out)
			}
		}
	}
}
