// Package hostile makes texts that cost a careless reader more than one pass over
// them. Tests give them to everything that reads what strangers wrote. Start with
// [Shapes].
//
//precis:testonly
package hostile

import (
	"strconv"
	"strings"
)

// Shape is a text of any size.
type Shape struct {
	Name string
	make func(size int) string
}

// Text returns a text of the shape of about size bytes, and of at most 100 bytes
// more.
func (s Shape) Text(size int) string { return s.make(size) }

func repeat(name, unit string) Shape { return after(name, "", unit, "") }

// after is a head, a unit that is repeated, and a tail.
func after(name, head, unit, tail string) Shape {
	return Shape{name, func(size int) string {
		return head + strings.Repeat(unit, max(size/len(unit), 1)) +
			tail
	}}
}

// numbered repeats a unit with another number in the place of # each time.
func numbered(name, unit string) Shape {
	return Shape{name, func(size int) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			b.WriteString(strings.ReplaceAll(unit, "#", strconv.Itoa(i)))
		}
		return b.String()
	}}
}

// nested opens as often as it closes.
func nested(name, opens, closes string) Shape {
	return Shape{name, func(size int) string {
		n := max(size/(len(opens)+len(closes)), 1)
		return strings.Repeat(opens, n) + strings.Repeat(closes, n)
	}}
}

// Shapes returns all shapes.
func Shapes() []Shape {
	return []Shape{
		// no structure, or nothing but it
		repeat("one line of a letter", "a"), repeat("spaces", " "), repeat("empty lines", "\n"),
		repeat("carriage returns", "\r"), repeat("lines of a letter", "a\n"),
		repeat("words", "lorem ipsum "), numbered("different words", "w# "),
		numbered("different lines", "line # of the text\n"),
		repeat("one line again and again", "the same line of text\n"),
		// bytes
		repeat("NUL", "\x00"), repeat("invalid UTF-8", "\xff"), repeat("half characters", "\xe2\x82"),
		repeat("wide characters", "é世🚀"), repeat("escapes", "\x1b[31m"), repeat("zero width", "\u200b\u202e"),
		repeat("combining marks", "e\u0301\u0302"), repeat("joined emoji", "👩\u200d"),
		repeat("mixed scripts", "aя語ع "),
		// openers and closers
		repeat("parentheses", "("), nested("nested parentheses", "(", ")"),
		nested("nested brackets", "[", "]"), nested("nested objects", `{"a":`, "}"), repeat("quotes", `"`),
		repeat("single quotes", "'"), repeat("open quotation marks", "«"), repeat("quoted lines", "> a\nb\n"),
		repeat("backslashes", `\`),
		repeat("backquotes", "`"), repeat("fences", "```\n"), repeat("comments", "/*"), repeat("hashes", "#"),
		repeat("less than", "<"), repeat("dollars", "$(("), repeat("here documents", "cat <<A\n"),
		numbered("different here documents", "cat <<A#\n"),
		// elements
		repeat("tags", "<a>"), nested("nested tags", "<a>", "</a>"), numbered("different tags", "<t#>"),
		repeat("closing tags", "</system-reminder>"), repeat("reminders", "<system-reminder>"),
		nested("nested reminders", "<system-reminder>", "</system-reminder>"),
		repeat("commands", "<command-name>/x</command-name>"),
		repeat("feedback", "<feedback>do it</feedback>\n"),
		repeat("XML calls", "<read_file><path>a</path></read_file>\n"),
		repeat("calls that do not end", "<read_file><path>"),
		repeat("results as text", "[read_file for 'a'] Result:\n"),
		repeat("environment", "<environment_details>\n"),
		// what looks like facts
		numbered("paths", "/src/dir#/file#.go "), repeat("one deep path", "/a"),
		repeat("a path of dots", "../"), numbered("URLs", "https://host#.example/p?q=# "),
		numbered("errors", "Error: E# failed at main.go:#:1\n"), numbered("numbers", "# "),
		repeat("digits", "0123456789"), numbered("hashes of commits", "deadbeef#cafe "),
		numbered("rules", "You must never touch file# again.\n"),
		repeat("one long rule", "always never must only "),
		numbered("identifiers", "snake_case_# camelCase# "), repeat("one identifier", "aB_"),
		repeat("dots", "a.b."), repeat("colons", "a:b:"), repeat("at signs", "a@b."),
		repeat("questions", "why? "), repeat("handles", "m1 m2#3 m4-m5 "),
		// formats
		numbered("JSON lines", `{"id":#,"text":"x"}`+"\n"), after("a JSON array", "[", "1,", "1]"),
		after("a JSON string", `"`, `\u00e9`, `"`),
		after("half of a JSON array", "[", `{"a":[1,2,{"b":null}]},`, ""),
		repeat("diff", "@@ -1,1 +1,1 @@\n-a\n+b\n"), repeat("diff heads", "--- a/x\n+++ b/x\n"),
		numbered("search results", "src/f#.go:#:found it\n"),
		numbered("log", "2026-01-02T03:04:05Z INFO step # done\n"),
		numbered("stack", "\tat a.b.C#(C.java:#)\n"),
		repeat("table", "| a | b | c |\n"), repeat("progress", "10%\r"), repeat("headings", "# a\n"),
		numbered("line numbers", "     #\tcode\n"), repeat("base64", "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0"),
		repeat("list", "- a\n"), numbered("plan", "[ ] step #\n"),
		repeat("source", "func f(a int) int {\n\treturn a\n}\n"), repeat("pipes", "a | "),
		repeat("redirections", "a > b && "), numbered("moves", "mv a# b# && "),
		repeat("quoted commands", `sh -c "sh -c '`), repeat("assignments", "A=B "), repeat("subshells", "$("),
	}
}
