package suggest_test

import (
	"testing"

	"github.com/precis-dev/precis/internal/suggest"
)

func TestNearest(t *testing.T) {
	known := []string{"threshold", "target", "keep.messages", "keep.share", "claude-sonnet-4-5", "claude-sonnet-4-5-20250929", "model"}
	for word, want := range map[string]string{
		"treshold": "threshold", "threshold": "threshold", "tagret": "target", "keep.mesages": "keep.messages", "claude-sonnet": "claude-sonnet-4-5",
		"claude-sonet-4-5": "claude-sonnet-4-5", "Model": "model", "x": "", "": "", "something else": "",
	} {
		if got := suggest.Nearest(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	if got := suggest.DidYouMean("zzz", known); got != "" {
		t.Errorf("%q", got)
	}
}
