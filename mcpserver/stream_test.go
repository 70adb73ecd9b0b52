package mcpserver_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis/mcpserver"
)

const (
	hello  = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	helped = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	list   = `{"jsonrpc":"2.0","id":%s,"method":"tools/list"}`
)

// said runs a server over lines and returns its answers: the ID of each as it is written, and
// the code of its error, 0 for none.
func said(t *testing.T, in ...string) (ids []string, codes map[string]int) {
	t.Helper()
	var out bytes.Buffer
	home := home(t, talk(1))
	if err := mcpserver.Serve(t.Context(), mcpserver.Options{Home: home}, strings.NewReader(strings.Join(in, "\n")+"\n"), &out); err != nil {
		t.Fatal(err)
	}
	codes = map[string]int{}
	for line := range strings.Lines(out.String()) {
		var m struct {
			ID    json.RawMessage
			Error struct{ Code int }
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		ids = append(ids, string(m.ID))
		codes[string(m.ID)] = m.Error.Code
	}
	return ids, codes
}

// One bad line ends nothing: it is answered with an error, and what follows is answered.
func TestABadLineEndsNothing(t *testing.T) {
	for name, tt := range map[string]struct {
		line string
		id   string
		code int
	}{
		"cut off":          {`{"jsonrpc":"2.0","id":5,`, "null", -32700},
		"no JSON":          {"hello", "null", -32700},
		"two on a line":    {`{"jsonrpc":"2.0","id":5,"method":"ping"} {"x":1}`, "null", -32700},
		"binary":           {"\x00\xff\xfe", "null", -32700},
		"without jsonrpc":  {`{"id":5,"method":"ping"}`, "5", -32600},
		"another version":  {`{"jsonrpc":"1.0","id":"a","method":"ping"}`, `"a"`, -32600},
		"an ID of a kind":  {`{"jsonrpc":"2.0","id":{"x":1},"method":"ping"}`, "null", -32600},
		"neither":          {`{"jsonrpc":"2.0"}`, "null", -32600},
		"a number":         {"7", "null", -32600},
		"an empty batch":   {"[]", "null", -32600},
		"a method of kind": {`{"jsonrpc":"2.0","id":5,"method":7}`, "5", -32600},
	} {
		ids, codes := said(t, hello, helped, tt.line, fmt.Sprintf(list, "6"))
		if !slices.Contains(ids, "1") || codes["1"] != 0 || !slices.Contains(ids, "6") || codes["6"] != 0 || codes[tt.id] != tt.code {
			t.Errorf("%s: answers to %v, %v", name, ids, codes)
		}
	}
}

// What other programs put around a message, and several messages on a line, are read.
func TestOddLinesAreRead(t *testing.T) {
	for name, in := range map[string][]string{
		"a byte order mark": {"\ufeff" + hello, helped, fmt.Sprintf(list, "6")},
		"carriage returns":  {hello + "\r", helped + "\r", "", "  ", fmt.Sprintf(list, "6") + "\r"},
		"a batch":           {hello, "[" + helped + "," + fmt.Sprintf(list, "6") + "]"},
	} {
		if ids, codes := said(t, in...); len(ids) != 2 || !slices.Contains(ids, "1") || !slices.Contains(ids, "6") || codes["6"] != 0 {
			t.Errorf("%s: answers to %v, %v", name, ids, codes)
		}
	}
}

func TestIDsComeBackAsTheyCame(t *testing.T) {
	ids := []string{"9007199254740993", "12345678901234567890", "-9223372036854775809", "1.5", "1e3", "7.0", `"9007199254740993"`, `"é\u0000"`, `""`, "0", "-1"}
	in := []string{hello, helped}
	for _, id := range ids {
		in = append(in, fmt.Sprintf(list, id))
	}
	in = append(in, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9007199254740995}}`)
	got, codes := said(t, in...)
	for _, id := range ids {
		var want, have any
		ok := slices.ContainsFunc(got, func(g string) bool {
			if strings.HasPrefix(id, `"`) { // a text may be escaped otherwise
				return json.Unmarshal([]byte(id), &want) == nil && json.Unmarshal([]byte(g), &have) == nil && want == have
			}
			return g == id
		})
		if !ok || codes[id] != 0 {
			t.Errorf("%s is not among %v (%v)", id, got, codes)
		}
	}
}

// There are APIs that refuse every request with a tool whose schema has a union of types.
func TestSchemasHaveOneType(t *testing.T) {
	var out bytes.Buffer
	if err := mcpserver.Serve(t.Context(), mcpserver.Options{Home: home(t, talk(1)), Edits: true}, strings.NewReader(hello+"\n"+helped+"\n"+fmt.Sprintf(list, "6")+"\n"), &out); err != nil {
		t.Fatal(err)
	}
	var walk func(path string, v any)
	n := 0
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if kind, ok := v["type"]; ok {
				if _, one := kind.(string); !one && !strings.HasSuffix(path, "/properties") {
					t.Errorf("%s: type %v", path, kind)
				}
				n++
			}
			for name, x := range v {
				if strings.HasSuffix(path, "/properties") {
					if p, ok := x.(map[string]any); ok && p["type"] == nil {
						t.Errorf("%s/%s has no type", path, name)
					}
				}
				walk(path+"/"+name, x)
			}
		case []any:
			for _, x := range v {
				walk(path, x)
			}
		}
	}
	for line := range strings.Lines(out.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if tools, ok := m["result"].(map[string]any)["tools"].([]any); ok {
			for _, tool := range tools {
				walk(fmt.Sprint(tool.(map[string]any)["name"]), tool)
			}
		}
	}
	if n < 20 {
		t.Errorf("%d types", n)
	}
}
