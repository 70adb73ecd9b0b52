package digest_test

import (
	"strings"
	"testing"
)

// BenchmarkDoubts checks half a megabyte of hostile statements against a conversation of half a
// megabyte.
func BenchmarkDoubts(b *testing.B) {
	s := long(1)
	for range 200 {
		s.turn()
	}
	for name, line := range map[string]string{
		"names":               "`neverSeen%Name` in internal/part%/file%.go came to %73914, \"nothing of this was said in here %\"\n",
		"deeds":               "It was pushed. All tests pass. `go test ./internal/part1` passes. Created internal/part1/module1.go.\n",
		"ticks":               "` ` `\n",
		"tests":               "All tests pass.\n",
		"values":              "The limit is module1 = 7 of % now.\n",
		"one line of quotes":  "`a b` ",
		"one line of numbers": "12345 ",
		"one line of files":   "Created internal/part1/module1.go ",
	} {
		var text strings.Builder
		for n := 0; text.Len() < 500_000; n++ {
			text.WriteString(strings.ReplaceAll(line, "%", string(rune('a'+n%26))+strings.Repeat("x", n%97)))
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				doubtsOf(s, text.String())
			}
		})
	}
}
