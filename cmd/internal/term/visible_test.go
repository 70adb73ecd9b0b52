package term_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis/cmd/internal/term"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":               "plain\ttext\n",
		"\x1b[31m\x07\x00\x7f":        "␛[31m␇␀␡",
		"over\rwritten, end\r\n":      "over␍written, end\r\n",
		"c1 \u009b and byte \x9b":     "c1 <U+009B> and byte <0x9B>",
		"\u202eturned\u2069":          "<U+202E>turned<U+2069>",
		"a\u200bb\u00adc\ufeff":       "a<U+200B>b<U+00AD>c<U+FEFF>",
		"a\u200db":                    "a<U+200D>b",
		"می\u200c":                    "می<U+200C>",
		"\u2028\u3164\u2800":          "<U+2028><U+3164><U+2800>",
		"\U000e0041 a\U000e0101":      "<U+E0041> a<U+E0101>",
		"界 é e\u0301 ü":               "界 é e\u0301 ü",
		"👩\u200d👩\u200d👧 ❤\ufe0f #️⃣": "👩\u200d👩\u200d👧 ❤\ufe0f #️⃣",
		"می\u200cخواهم क्\u200dष":     "می\u200cخواهم क्\u200dष",
		"葛\U000e0100":                 "葛\U000e0100",
		"cut \xe7\x95":                "cut <0xE7><0x95>",
	} {
		if got := term.Visible(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// Text may come in any pieces, and what is visible is not changed.
func TestWritersTakePieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text") + rapid.SampledFrom([]string{"", "\x1b", "\xe7", "\xf0\x9f\x91"}).Draw(t, "end")
		var b bytes.Buffer
		w := term.New(&b, term.Options{Terminal: true, Color: true})
		for rest := s; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			if got, err := w.Write([]byte(rest[:n])); got != n || err != nil {
				t.Fatal(got, err)
			}
			rest = rest[n:]
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		got := b.String()
		if term.Visible(got) != got {
			t.Fatalf("%q: %q is not visible", s, got)
		}
		inContext := strings.ContainsFunc(s, func(r rune) bool { return r == '\r' || unicode.In(r, unicode.Join_Control, unicode.Variation_Selector) })
		if term.Visible(s) == s && got != s && !inContext {
			t.Fatalf("%q became %q", s, got)
		}
		if !utf8.ValidString(got) {
			t.Fatalf("%q is no text", got)
		}
	})
}

// Only what Style returns has color, and only as written by its own writer.
func TestColorsCannotBeImitated(t *testing.T) {
	var b bytes.Buffer
	w := term.New(&b, term.Options{Terminal: true, Color: true})
	w.Printf("%s\n", w.Style("bad", "text \x1b[32m"))
	if got, want := b.String(), "\x1b[38;5;160mtext ␛[32m\x1b[m\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	b.Reset()
	w.Printf("%s\n", term.New(&b, term.Options{Terminal: true, Color: true}).Style("bad", "text"))
	if strings.Contains(b.String(), "\x1b") {
		t.Errorf("the code of another writer passes: %q", b.String())
	}
	b.Reset()
	w.Raw()
	w.Table([]string{"head", "n"}, []int{1}, [][]string{{w.Style("good", "x\x1b[2J"), "1"}})
	if got, want := b.String(), "  \x1b[38;5;243mhead\x1b[m  \x1b[38;5;243mn\x1b[m\n  \x1b[38;5;29mx\x1b[2J\x1b[m     1\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
