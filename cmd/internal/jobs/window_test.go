package jobs

import (
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/models"
)

// A window that the user sets, in the configuration or in the file of models, precedes the one that
// the recording names, in lists of sessions and for one recording.
func TestWindowOf(t *testing.T) {
	own := 9000
	catalog, err := models.New(models.Options{Overrides: []models.Override{{ID: "mine", Window: &own}}})
	if err != nil {
		t.Fatal(err)
	}
	const recorded, recordedBy = 258_400, precis.SourceRecorded
	for name, c := range map[string]struct {
		cfg      config.Config
		model    string
		recorded int
		tokens   int
		source   precis.Source
	}{
		"recorded":                            {config.Config{}, "claude-sonnet-4-5", recorded, recorded, recordedBy},
		"not recorded":                        {config.Config{}, "claude-sonnet-4-5", 0, 200_000, precis.SourceCatalog},
		"no model":                            {config.Config{}, "", 0, 128_000, precis.SourceAssumed},
		"no model, recorded":                  {config.Config{}, "", recorded, recorded, recordedBy},
		"set in the file of models":           {config.Config{}, "mine", recorded, own, precis.SourceConfigured},
		"set":                                 {config.Config{Window: 7000}, "claude-sonnet-4-5", recorded, 7000, precis.SourceConfigured},
		"another model than the recorded one": {config.Config{Model: "claude-sonnet-4-5"}, "gpt-5", recorded, 200_000, precis.SourceCatalog},
	} {
		w := windowOf(&c.cfg, catalog, c.model, c.recorded)
		if w.Tokens != c.tokens || w.Source != c.source {
			t.Errorf("%s: %v, want %d (%s)", name, w, c.tokens, c.source)
		}
		if hint := "the recording names no model; see --model and --window"; (w.Detail == hint) != (name == "no model") {
			t.Errorf("%s: %q", name, w.Detail)
		}
	}
}
