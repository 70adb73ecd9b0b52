package prose

import (
	"slices"
	"testing"
)

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"“Mend it — now!”": "mend it now", "It's 4,120 of `4,120`.": "it s 4120 of 4120", "raw_data.go": "raw data go", " … ": "", "测试 passes": "测试 passes",
	} {
		if got := Plain(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for want, in := range map[string]bool{"mend it": true, "it": true, "end it": false, "mend i": false, "it now": true, "": true} {
		if HasPlain("mend it now", want) != in {
			t.Errorf("%q is in it: %v", want, !in)
		}
	}
}

// TestSentences: line breaks end no sentence, and marks of lists belong to none.
func TestSentences(t *testing.T) {
	const text = "- It works, e.g. here. see `a.b`\nnext! 完了。 Done"
	var got []string
	for _, s := range Sentences(text) {
		got = append(got, s.Of(text))
	}
	if want := []string{"It works, e.g. here.", "see `a.b`\nnext!", "完了。", "Done"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
