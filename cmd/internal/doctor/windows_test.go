package doctor

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/windows"
)

// Doubtful windows are named with the reason and with what mends it; others are not.
func TestDoubtfulWindows(t *testing.T) {
	w := func(model string, tokens int, source precis.Source, doubts ...string) windows.Entry {
		return windows.Entry{Upstream: "up", Model: model, Window: precis.Window{Tokens: tokens, Source: source}, Configured: source == precis.SourceConfigured, Server: 65_536, Stated: 32_768, Doubts: doubts}
	}
	e := &exam{}
	e.doubtful([]windows.Entry{
		w("fine", 200_000, precis.SourceCatalog), w("new", 128_000, precis.SourceAssumed, "assumed"), w("split", 32_768, precis.SourceLearned, "contradicted"),
		w("mine", 100_000, precis.SourceConfigured, "contradicted"), w("blind $(x)", 58_200, precis.SourceLearned, "unconfirmed"), w("stale", 32_768, precis.SourceServer, "old"),
	})
	want := []struct{ model, text, hint string }{
		{"new", "assumed", "models_file"}, {"split", "65,536, an error stated 32,768", "precis windows split --upstream up --forget"}, {"mine", "as you set it", "no more than"},
		{"blind", "without a number", `precis windows 'blind $(x)' --upstream`}, {"stale", "month", "--forget"},
	}
	if len(e.findings) != len(want) {
		t.Fatalf("%+v", e.findings)
	}
	for i, f := range e.findings {
		if f.Level != Warn || !strings.Contains(f.Check, want[i].model) || !strings.Contains(f.Text, want[i].text) || !strings.Contains(f.Hint, want[i].hint) {
			t.Errorf("%+v", f)
		}
	}
	e = &exam{}
	if e.doubtful([]windows.Entry{w("fine", 200_000, precis.SourceCatalog)}); len(e.findings) != 1 || e.findings[0].Level != OK {
		t.Errorf("%+v", e.findings)
	}
}
