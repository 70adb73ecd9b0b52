package harness_test

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/harness"
)

// Nobody types a quarter of a megabyte: of a longer text the ends are a person's, as far as they are not quoted, and
// whatever stands between them is pasted, also when it would otherwise be read.
func TestLongTextsArePastedBetweenTheirEnds(t *testing.T) {
	paste := strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 20_000)
	typed := func(text string) string { return strings.Join(harness.Typed(text), "|") }
	for name, text := range map[string]string{
		"plain":          "Read this first.\n" + paste + "Now mend it.\n",
		"fenced":         "Read this first.\n```\n" + paste + "```\nNow mend it.\n",
		"fences between": "Read this first.\n" + strings.Repeat("```\ncode\n```\n", 50_000) + "Now mend it.\n",
		"a mail":         "Read this first.\n\nFrom: a\nSubject: b\n" + paste + "Now mend it.\n",
		"an element":     "Read this first.\n<document>\n" + paste + "</document>\nNow mend it.\n",
	} {
		got := typed(text)
		if !strings.Contains(got, "Read this first.") || !strings.Contains(got, "Now mend it.") {
			t.Errorf("%s: what was typed is %.60q … %d bytes", name, got, len(got))
		}
		if len(got) > 300<<10 {
			t.Errorf("%s: %d bytes are taken for typed", name, len(got))
		}
	}
	if got := typed("Read this first.\n```\n" + paste + "```\nNow mend it.\n"); strings.Contains(got, "fox") {
		t.Error("a fence is open between the ends, and what stands in it is taken for typed")
	}
}
