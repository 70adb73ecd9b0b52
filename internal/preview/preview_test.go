package preview_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis/internal/preview"
)

func all(int) bool { return true }

// check fails when s breaks a promise of the package about text.
func check(t interface{ Fatalf(string, ...any) }, text string, s preview.Split) {
	at := 0
	for i, p := range s.Pieces {
		if p.Start != at || p.End <= p.Start || p.End > len(text) || p.Class > preview.Headline {
			t.Fatalf("piece %d is %+v, the one before ends at %d of %d", i, p, at, len(text))
		}
		if cutsRune(text, p.Start) {
			t.Fatalf("piece %d begins inside a character at %d", i, p.Start)
		}
		if p.End-p.Start > 240 {
			t.Fatalf("piece %d has %d bytes", i, p.End-p.Start)
		}
		at = p.End
	}
	if at != len(text) {
		t.Fatalf("the pieces end at %d of %d", at, len(text))
	}
	if got := s.Render(text, all, nil); got != text {
		t.Fatalf("everything kept is not the text")
	}
	if s.Head == "" || len(s.Head) > 160 || !utf8.ValidString(s.Head) || strings.ContainsAny(s.Head, "\n\r\x00") {
		t.Fatalf("head %q", s.Head)
	}
}

// cutsRune reports whether byte at is inside a valid UTF-8 sequence.
func cutsRune(text string, at int) bool {
	for back := 1; back < utf8.UTFMax && back <= at; back++ {
		r, size := utf8.DecodeRuneInString(text[at-back:])
		if r != utf8.RuneError && size > back {
			return true
		}
	}
	return false
}

var fragments = []string{
	"\n", "\r\n", "\r", " ", "\t", "    ", "{", "}", "[", "]", ",", ":", "\"", "\\", "\"id\": 12,", "null", "-", "+", "@@ -1,3 +1,4 @@", "--- a/x.go", "+++ b/x.go", "diff --git a/x b/x",
	"error: it failed", "Error", "3 failed, 4 passed", "--- FAIL: TestX (0.00s)", "--- PASS: TestY", "ok  \tpkg\t0.1s", "src/a.go:12:", "func main() {", "12→", "12 | ", "  13\t", "1: ",
	"<file><path>a.go</path>", "<system-reminder>", "</system-reminder>", "[read_file for 'x.py'] Result:", "é", "漢字", "🙂", "\xff", "\xf0\x9f", "\x80", "\x00", "\x1b[31m", "\x1b", "├── ", "✓", "# Title",
	"<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE", "drwxr-xr-x 2 a b 10 Jan 1 10:00 src", "total 12", "a,b,c", "|a|b|", "word ", strings.Repeat("x", 250), strings.Repeat("é", 130), "2024-01-01 10:00:00", "45%", "#12 DONE",
}

var hints = []preview.Hint{
	{}, {Path: "a.go"}, {Path: "x.json"}, {Path: "x.md"}, {Command: "go test ./... 2>&1 | tail"}, {Command: "grep -rn x ."}, {Command: "ls -la"}, {Command: "git diff"}, {Tool: "Read", Path: "a.py"},
	{Tool: "glob"}, {Tool: "bash", IsError: true}, {Path: "x.csv"}, {Path: "a.go", Signatures: func(_, text string) []int { return []int{-1, 0, 2, strings.Count(text, "\n") + 5} }},
}

func TestEveryTextKeepsThePromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(fragments), rapid.String()), 0, 60).Draw(t, "parts")
		h := hints[rapid.IntRange(0, len(hints)-1).Draw(t, "hint")]
		text := strings.Join(parts, rapid.SampledFrom([]string{"", "\n", " "}).Draw(t, "between"))
		s := preview.Of(text, h)
		check(t, text, s)
		if again := preview.Of(text, h); fmt.Sprint(again) != fmt.Sprint(s) {
			t.Fatalf("two splits differ")
		}
		keep := rapid.SliceOfN(rapid.Bool(), len(s.Pieces), len(s.Pieces)).Draw(t, "keep")
		checkGaps(t, text, s, func(i int) bool { return keep[i] })
	})
}

// checkGaps compares a render with a naive one and counts what is left out.
func checkGaps(t *rapid.T, text string, s preview.Split, keep func(int) bool) {
	bytes, lines, kept := 0, 0, 0
	got := s.Render(text, keep, func(l, b int) string {
		bytes, lines = bytes+b, lines+l
		return "\x01"
	})
	want, begun, open := "", 0, false
	for i, p := range s.Pieces {
		if keep(i) {
			want, open, kept = want+text[p.Start:p.End], false, kept+p.End-p.Start
			continue
		}
		if !open {
			want += "\x01"
		}
		open = true
		if p.Start == 0 || text[p.Start-1] == '\n' {
			begun++
		}
		begun += strings.Count(strings.TrimSuffix(text[p.Start:p.End], "\n"), "\n") // a piece may hold several lines
	}
	if strip(got) != strip(want) || bytes+kept != len(text) || lines != begun {
		t.Fatalf("%q, want %q but for line ends; %d + %d of %d bytes, %d lines of %d", got, want, bytes, kept, len(text), lines, begun)
	}
}

func strip(s string) string { return strings.ReplaceAll(s, "\n", "") }

func TestRenderNeverJoinsLines(t *testing.T) {
	text := "a\nb\nc\n" + strings.Repeat("word ", 100) + "\nd"
	s := preview.Of(text, preview.Hint{})
	got := s.Render(text, func(i int) bool { return i == 0 || i == 3 || i == len(s.Pieces)-1 }, func(lines, _ int) string { return fmt.Sprintf("[%d]", lines) })
	first := text[s.Pieces[3].Start:s.Pieces[3].End]
	if want := "a\n[2]\n" + first + "[0]\nd"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := s.Render(text, func(int) bool { return false }, nil); got != "" {
		t.Errorf("nothing kept: %q", got)
	}
}

func TestHostileTextsTakeLinearTime(t *testing.T) {
	const mb = 1 << 20
	for name, text := range map[string]string{
		"empty":          "",
		"one line":       strings.Repeat("x", 10*mb),
		"empty lines":    strings.Repeat("\n", mb),
		"returns":        strings.Repeat("\r", mb),
		"mixed returns":  strings.Repeat("a\r", mb),
		"NUL":            strings.Repeat("\x00", mb),
		"invalid":        strings.Repeat("\xff\xf0\x9f", mb),
		"continuation":   strings.Repeat("\x80", mb),
		"open arrays":    strings.Repeat("[", 10*mb),
		"open objects":   strings.Repeat(`{"a":`, mb),
		"deep arrays":    strings.Repeat("[", 9000) + strings.Repeat("]", 9000),
		"backslashes":    `["` + strings.Repeat(`\`, 5*mb),
		"quotes":         "[" + strings.Repeat(`"\\\\\\\\",`, mb),
		"many members":   "{" + members(mb/4) + "}",
		"spaces":         strings.Repeat(" ", 5*mb),
		"escapes":        strings.Repeat("\x1b[", mb),
		"digits":         strings.Repeat("1", 5*mb),
		"colons":         strings.Repeat("a:1:", mb),
		"errors":         strings.Repeat("error: x\n", mb/2),
		"starts":         strings.Repeat("a_test.go:1: x\n--- PASS: T\n", mb/8),
		"reminders":      strings.Repeat("<system-reminder>\n", mb/4),
		"many files":     paths(mb / 8),
		"one line diff":  "diff --git a/x b/x\n" + strings.Repeat("+", 5*mb),
		"percent column": strings.Repeat("12%", mb),
	} {
		t.Log(name) // one that takes longer than one pass does not end
		check(t, text, preview.Of(text, preview.Hint{}))
	}
}

// Of a text of very many lines the first and the last are looked at: memory is
// bounded, and the pieces still cover all of it.
func TestTheMiddleOfVeryLongTextsIsNoise(t *testing.T) {
	line := func(what string) string { return "error: " + what + "\n" }
	for name, filler := range map[string]string{"lines": "ok\n", "returns": "9%\r", "both": "ok\r\n", "blank": "\n"} {
		text := line("first") + strings.Repeat(filler, 300_000) + line("middle") + strings.Repeat(filler, 300_000) + line("last")
		s := preview.Of(text, preview.Hint{})
		check(t, text, s)
		class := func(what string) preview.Class {
			at := strings.Index(text, line(what))
			for _, p := range s.Pieces {
				if p.Start <= at && at < p.End {
					return p.Class
				}
			}
			t.Fatalf("%s: no piece holds the %s error", name, what)
			return 0
		}
		if class("first") == preview.Noise || class("last") == preview.Noise || class("middle") != preview.Noise {
			t.Errorf("%s: the errors are of class %v, %v and %v", name, class("first"), class("middle"), class("last"))
		}
		if len(s.Pieces) > 150_000 {
			t.Errorf("%s: %d pieces", name, len(s.Pieces))
		}
	}
}

func members(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"k%d":{"id":%d},`, i, i)
	}
	return b.String() + `"z":0`
}

func paths(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "src/d%d/f%d.go:12:x\n", i%1000, i)
	}
	return b.String()
}

func FuzzOf(f *testing.F) {
	for _, s := range fragments {
		f.Add(s, "a.go", "ls")
	}
	f.Add("{\"a\": [1, {\"id\": 2}]}", "", "")
	f.Add(strings.Join(fragments, "\n"), "", "go test")
	f.Fuzz(func(t *testing.T, text, path, command string) {
		check(t, text, preview.Of(text, preview.Hint{Path: path, Command: command, IsError: len(text)%2 == 0}))
	})
}

func TestContentIsWithoutItsFrame(t *testing.T) {
	for text, want := range map[string]string{
		"":               "",
		"plain\nlines\n": "plain\nlines\n",
		"[read_file for 'a.go'] Result:\n\npackage a\n\nvar x = 1\n":                                                            "package a\n\nvar x = 1\n",
		"<returncode>0</returncode>\n<output>\n  indented\n</output>\n":                                                         "  indented\n",
		"<file>\n<path>a</path>\n</file>\n":                                                                                     "<file>\n<path>a</path>\n</file>\n",
		"IMPORTANT: The file content has been truncated.\nStatus: Showing lines 6-9.\n\n--- FILE CONTENT (truncated) ---\nx\ny": "x\ny",
		"x\n(Open file: a.go)\n": "x\n",
	} {
		if from, to := preview.Content(text); text[from:to] != want {
			t.Errorf("%q: %q, want %q", text, text[from:to], want)
		}
	}
}
