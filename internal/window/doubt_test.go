package window_test

import (
	"slices"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/window"
)

func TestDoubts(t *testing.T) {
	configured := precis.Window{Tokens: 150_000, Source: precis.SourceConfigured}
	const month = 31 * 24 * time.Hour
	for name, c := range map[string]struct {
		h    *history
		want []window.Doubt
	}{
		"the catalog":                              {of(catalog), nil},
		"nothing is known":                         {of(assumed), []window.Doubt{window.Assumed}},
		"the server states it":                     {of(assumed).serve(32_768), nil},
		"the server has not answered for a month":  {of(catalog).serve(32_768).after(month), []window.Doubt{window.Old}},
		"an error states it":                       {of(catalog).refuse(60_000, 32_768), nil},
		"an error stated more, a month ago":        {of(assumed).refuse(130_000, 131_072).after(month), []window.Doubt{window.Old}},
		"an answer proved it a month ago":          {of(assumed).accept(140_000).after(month), []window.Doubt{window.Old}},
		"refusals without a number":                {of(catalog).refuse(150_000, 0).accept(120_000).refuse(150_000, 0), []window.Doubt{window.Unconfirmed}},
		"the server and an error do not agree":     {of(catalog).serve(65_536).refuse(60_000, 32_768), []window.Doubt{window.Contradicted}},
		"more was answered than the server states": {of(catalog).serve(32_768).accept(60_000), []window.Doubt{window.Contradicted}},
		"you set more than an error states":        {of(configured).refuse(60_000, 32_768), []window.Doubt{window.Contradicted}},
		"you set more than the server states":      {of(configured).serve(32_768), []window.Doubt{window.Contradicted}},
		"you set less":                             {of(configured).serve(200_000), nil},
		"you set more than was stated a month ago": {of(configured).refuse(60_000, 32_768).after(month), nil},
		"you set nearly what the server states":    {of(configured).serve(147_456), nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.h.known().Doubts(); !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v; the window is %v", got, c.want, c.h.window())
			}
		})
	}
}
