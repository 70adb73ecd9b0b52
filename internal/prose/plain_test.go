package prose

import "testing"

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

func TestSentences(t *testing.T) {
	const line = "It works, e.g. here. See `a. B` next! 完了。 Done"
	var got []string
	for _, cut := range Sentences(line) {
		got = append(got, line[cut[0]:cut[1]])
	}
	if len(got) != 4 || got[0] != "It works, e.g. here." || got[1] != " See `a. B` next!" || got[2] != " 完了。" {
		t.Errorf("%q", got)
	}
}

func TestMarks(t *testing.T) {
	for line, want := range map[string]string{"- [x] **Result:** it passes": "- [x] **Result:** ", "3. Write it": "3. ", "Write it": "", "- ": ""} {
		if got := Marks(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
