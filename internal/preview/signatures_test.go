package preview_test

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/preview"
)

// TestSignaturesSeeTheFileAlone checks what an outline is asked, and that its
// answer reaches the right lines.
func TestSignaturesSeeTheFileAlone(t *testing.T) {
	asked := map[string]string{}
	h := preview.Hint{Signatures: func(path, text string) []int {
		asked[path] = text
		for i, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(line, "mark") {
				return []int{i, i, -1, 99}
			}
		}
		return nil
	}}
	text := "<file><path>a.go</path>\n<content lines=\"7-9\">\n 7 | x := 1\n 8 | mark one\n 9 | \n</content>\n</file>\n" +
		"<file><path>b.py</path>\n<content lines=\"1-2\">\n1 | def f():\n2 |     pass\n</content>\n</file>\n"
	s := preview.Of(text, h)
	if len(asked) != 2 || asked["a.go"] != "x := 1\nmark one\n\n" || asked["b.py"] != "def f():\n    pass\n" {
		t.Errorf("asked %q", asked)
	}
	for i, want := range map[int]preview.Class{2: preview.Detail, 3: preview.Headline, 4: preview.Noise, 9: preview.Headline, 10: preview.Detail} {
		if p := s.Pieces[i]; p.Class != want {
			t.Errorf("%q has class %d, want %d", text[p.Start:p.End], p.Class, want)
		}
	}
	if want := "Go source, 5 lines, 2 definitions, 2 files: a.go, b.py"; s.Head != want {
		t.Errorf("head %q, want %q", s.Head, want)
	}
}

func TestTextWinsOverHint(t *testing.T) {
	for _, tt := range []struct {
		text string
		hint preview.Hint
		want preview.Kind
	}{
		{`{"error":"no such file","code":404}`, preview.Hint{Path: "main.go"}, preview.JSON},
		{"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", preview.Hint{Command: "ls"}, preview.Diff},
		{"a.go:1:x := 1\na.go:9:y := x\nb.go:3:z := y\n", preview.Hint{Tool: "Read"}, preview.Search},
		{"func main() {\n\treturn 1;\n}\nfunc b() {\n\tx := a();\n}\n", preview.Hint{Tool: "glob"}, preview.Code},
		{"The tool has no access to this path. Ask for it first, please.", preview.Hint{Tool: "grep"}, preview.Prose},
		{"", preview.Hint{Path: "a.go"}, preview.Prose},
	} {
		if got := preview.Of(tt.text, tt.hint).Kind; got != tt.want {
			t.Errorf("%q is %q, want %q", tt.text, got, tt.want)
		}
	}
}

// TestGiantLinesAreCutInside checks that one line does not stay one piece.
func TestGiantLinesAreCutInside(t *testing.T) {
	for name, text := range map[string]string{
		"prose":  strings.Repeat("Some words make a sentence, and it ends. ", 100),
		"html":   "<ul>" + strings.Repeat("<li><a href=\"x\">link</a></li>", 100) + "</ul>",
		"css":    strings.Repeat(".a{color:red;margin:0}", 100),
		"base64": strings.Repeat("QUJDREVGRw", 300),
		"han":    strings.Repeat("漢字仮名交じり", 200),
	} {
		s := preview.Of(text, preview.Hint{})
		if least := len(text) / 240; len(s.Pieces) < least {
			t.Errorf("%s: %d pieces", name, len(s.Pieces))
		}
		for _, p := range s.Pieces[:len(s.Pieces)-1] {
			if last := text[p.End-1]; name != "base64" && name != "han" && strings.IndexByte(" ,;>}", last) < 0 {
				t.Errorf("%s: cut after %q", name, text[p.Start:p.End])
			}
		}
	}
}
