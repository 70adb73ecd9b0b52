package retain_test

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis/retain"
)

const drawn = "╭────────────────╮\n│ Select agents  │\n│ 1. [ ] coder   │\n│ 2. [ ] reviewer│\n│ it writes tests│\n╰────────────────╯\n"

// TestFramesArePasted: nobody types the frames of a screen.
func TestFramesArePasted(t *testing.T) {
	got := retain.FoldPasted("The list breaks here, look:\n"+drawn+"Can we drop the borders?", 60)
	if !strings.Contains(got, "The list breaks here, look:") || !strings.Contains(got, "Can we drop the borders?") || strings.Contains(got, "reviewer") || !strings.Contains(got, "left out") {
		t.Error(got)
	}
}

func TestFoldDrawn(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		keep int
		want string
	}{
		"a frame":       {"a\n" + drawn + "b\n", 2, "a\n╭────────────────╮\n│ Select agents  │\n[… 4 lines left out …]\nb\n"},
		"all of it":     {drawn, 6, drawn},
		"two trees":     {"x\n├── a\n└── b\ny\n├── c\n└── d", 1, "x\n├── a\n[… 1 lines left out …]\ny\n├── c\n[… 1 lines left out …]\n"},
		"none of it":    {drawn, 0, "[… 6 lines left out …]\n"},
		"nothing":       {"", 3, ""},
		"nothing drawn": {"- a\n- b\n- c\n| d |\n", 1, "- a\n- b\n- c\n| d |\n"},
	} {
		if got := retain.FoldDrawn(tt.text, tt.keep); got != tt.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
