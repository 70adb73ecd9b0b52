package preview

import "testing"

func TestLine(t *testing.T) {
	for _, tt := range []struct {
		text string
		most int
		want string
	}{
		{" a\n\tb  c ", 20, "a b c"}, {"", 5, ""}, {"one two three", 9, "one two…"}, {"averylongword", 5, "avery…"}, {"a\x00b\x7fc", 9, "a b c"},
		{"ééé", 3, "é…"}, {"\xff", 9, "\ufffd"}, {"abc", 0, "…"}, {"abc", -3, "…"},
	} {
		if got := Line(tt.text, tt.most); got != tt.want {
			t.Errorf("%q in %d bytes: %q, want %q", tt.text, tt.most, got, tt.want)
		}
	}
}
