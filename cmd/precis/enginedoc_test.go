package main

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
)

var docCommand = regexp.MustCompile(`^curl -s -H "\$json" -d (?:'(.*)'|(@request\.json)) \$api/(\w+)$`)

// TestEngineDoc runs the commands of docs/engine.md in order and compares their output with the
// document, apart from … and the ends of lines.
func TestEngineDoc(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it starts a process")
	}
	text, err := os.ReadFile("../../docs/engine.md")
	if err != nil {
		t.Fatal(err)
	}
	base, _ := served(t, "memory")
	ran := 0
	for _, block := range strings.Split(string(text), "```console\n")[1:] {
		block, _, _ = strings.Cut(block, "\n```")
		command, want, _ := strings.Cut(strings.TrimPrefix(block, "$ "), "\n")
		m := docCommand.FindStringSubmatch(command)
		if m == nil {
			t.Fatalf("this cannot be run: %s", command)
		}
		body := m[1]
		if m[2] != "" {
			body = strings.ReplaceAll(documented(20), `"m",`, `"m","conversation":"ticket-4711",`)
		}
		res, err := http.Post(base+"/precis/api/v1/"+m[3], "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(res.Body)
		if res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s", command, res.StatusCode, raw)
		}
		rest := string(raw)
		for _, piece := range strings.Split(strings.ReplaceAll(want, "\n ", ""), "…") {
			_, after, found := strings.Cut(rest, piece)
			if !found {
				t.Errorf("%s does not answer %q\nbut %.1500s", command, piece, rest)
				break
			}
			rest = after
		}
		ran++
	}
	if ran < 6 {
		t.Errorf("%d commands were found", ran)
	}
}

// documented is the request.json of the document.
func documented(n int) string {
	return strings.NewReplacer(`"role":"user",`, `"role": "user", `, `"content":"Read`, `"content": "Read`).Replace(readings(n, ""))
}
