package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/internal/lazyregexp"
)

// inText finds commands in Markdown: lines of indented or fenced code, and text in backquotes.
var inText = lazyregexp.New("(?m)^(?:    |\\$ )(?:\\w+=\\S+ )*precis ([^#|>&\n]+)|`precis ([^`\n]+)`")

var isCommand = lazyregexp.New(`^(--)?[a-z-]+$`)

// The commands in documents exist, and have the flags that are written there.
func TestCommandsInDocumentsExist(t *testing.T) {
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, "../../README.md", "../../SECURITY.md", "../../CONTRIBUTING.md", "../../integrations/README.md")
	seen := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range inText.FindAllStringSubmatch(string(text), -1) {
			line, _, _ := strings.Cut(m[1]+m[2], "  ")
			line, _, _ = strings.Cut(strings.TrimSpace(line), " -- ")
			words := strings.Fields(strings.NewReplacer("[", "", "]", "", "…", "", `"`, "", "'", "").Replace(line))
			if len(words) == 0 || words[0] == "help" || !isCommand.MatchString(words[0]) {
				continue // such as COMMAND, or a variable of that name
			}
			c := newCommandLine(console.Streams{In: strings.NewReader(""), Out: io.Discard, Errs: io.Discard})
			root := c.root(words)
			cmd, rest, err := root.Find(words)
			if err == nil && cmd == root {
				if words[0] == "--version" || words[0] == "--help" {
					continue
				}
				t.Errorf("%s: there is no command precis %s", file, line)
				continue
			}
			if err == nil {
				cmd.DisableFlagParsing = false
				err = cmd.ParseFlags(rest)
			}
			if err != nil && !strings.Contains(err.Error(), "argument") && err != pflag.ErrHelp { // the place of an argument has a name
				t.Errorf("%s: precis %s: %v", file, line, err)
			}
			c.Close()
			seen++
		}
	}
	if seen < 100 {
		t.Errorf("only %d commands were found", seen)
	}
}

var (
	link    = lazyregexp.New(`\]\(([^)\s:]+)\)`)
	heading = lazyregexp.New(`(?m)^#+ (.*)$`)
	noWord  = lazyregexp.New(`[^\p{L}\p{N} _-]`)
)

// The links of documents lead to a file, and to a heading in it.
func TestLinksInDocuments(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/decisions/*.md", "integrations/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range link.FindAllStringSubmatch(string(text), -1) {
				path, anchor, _ := strings.Cut(m[1], "#")
				to := file
				if path != "" {
					to = filepath.Join(filepath.Dir(file), path)
				}
				target, err := os.ReadFile(to)
				if info, serr := os.Stat(to); serr == nil && info.IsDir() {
					continue
				}
				if err != nil {
					t.Errorf("%s: %s leads nowhere", file, m[1])
				}
				if anchor != "" && !hasHeading(string(target), anchor) {
					t.Errorf("%s: %s leads to no heading", file, m[1])
				}
			}
		}
	}
}

// hasHeading reports whether a document has a heading with that anchor, by GitHub's rule.
func hasHeading(text, anchor string) bool {
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		words := link.ReplaceAllString(strings.ToLower(m[1]), "]")
		if strings.ReplaceAll(noWord.ReplaceAllString(words, ""), " ", "-") == anchor {
			return true
		}
	}
	return false
}
