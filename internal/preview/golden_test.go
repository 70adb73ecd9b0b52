package preview_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/precis-dev/precis/internal/preview"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden reads testdata/*.txtar. In each, "text" is what a tool returned,
// the comment above is the hint as "field: value" lines; "classes" is the split
// and "preview" the text with its headlines alone.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) { golden(t, name) })
	}
}

func golden(t *testing.T, name string) {
	a, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("<CR>", "\r", "<ESC>", "\x1b").Replace(string(a.Files[0].Data))
	s := preview.Of(text, hintOf(t, string(a.Comment)))
	check(t, text, s)
	got := &txtar.Archive{Comment: a.Comment, Files: []txtar.File{
		a.Files[0],
		{Name: "classes", Data: []byte(classes(text, s))},
		{Name: "preview", Data: []byte(headlines(text, s))},
	}}
	if *update {
		if err := os.WriteFile(name, txtar.Format(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want := txtar.Format(a); !bytes.Equal(want, txtar.Format(got)) {
		t.Error(cmp.Diff(string(want), string(txtar.Format(got))))
	}
}

func hintOf(t *testing.T, comment string) preview.Hint {
	var h preview.Hint
	for line := range strings.Lines(comment) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch name {
		case "path":
			h.Path = value
		case "tool":
			h.Tool = value
		case "command":
			h.Command = value
		case "error":
			h.IsError = true
		case "":
		default:
			t.Fatalf("hint %q", line)
		}
	}
	return h
}

func classes(text string, s preview.Split) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s | %s\n", s.Kind, s.Head)
	for _, p := range s.Pieces {
		part := strings.NewReplacer("\r", "<CR>", "\x1b", "<ESC>").Replace(text[p.Start:p.End])
		fmt.Fprintf(&b, "%s|%s", [...]string{"noise ", "      ", "HEAD  "}[p.Class], part)
		if !strings.HasSuffix(part, "\n") {
			b.WriteString("⏎\n")
		}
	}
	return b.String()
}

func headlines(text string, s preview.Split) string {
	return strings.NewReplacer("\r", "<CR>", "\x1b", "<ESC>").Replace(s.Render(text,
		func(i int) bool { return s.Pieces[i].Class == preview.Headline },
		func(lines, bytes int) string {
			if lines == 0 {
				return fmt.Sprintf("[… %d bytes]", bytes)
			}
			return fmt.Sprintf("[… %d lines]\n", lines)
		}))
}
