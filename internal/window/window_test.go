package window_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/window"
)

var (
	start   = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	catalog = precis.Window{Tokens: 200_000, Source: precis.SourceCatalog, Detail: "catalog entry"}
	assumed = precis.Window{Tokens: 128_000, Source: precis.SourceAssumed}
)

// history is what happens to one window, step by step.
type history struct {
	base   precis.Window
	served window.Served
	e      window.Evidence
	now    time.Time
}

func of(base precis.Window) *history { return &history{base: base, now: start} }

func (h *history) known() window.Known {
	return window.Known{Table: func(string) precis.Window { return h.base }, Served: h.served, Evidence: h.e, Upstream: "up", Now: h.now}
}

func (h *history) window() precis.Window { return h.known().Window() }

func (h *history) refuse(counted, limit int) *history {
	h.e = h.e.Refuse(window.Overflow{Limit: limit, Counted: counted, Known: h.window().Tokens}, h.now)
	return h
}

// seen is a refusal behind words of an answer.
func (h *history) seen(counted int) *history {
	h.e = h.e.Refuse(window.Overflow{Counted: counted, Known: h.window().Tokens, Seen: true}, h.now)
	return h
}

func (h *history) accept(tokens int) *history {
	h.e = h.e.Accept(tokens, tokens, h.now)
	return h
}

func (h *history) serve(tokens int) *history {
	h.served = h.served.After(window.Served{Tokens: tokens, Detail: "up/v1/models", Since: h.now, Asked: h.now})
	return h
}

func (h *history) after(d time.Duration) *history {
	h.now = h.now.Add(d)
	return h
}

func TestOf(t *testing.T) {
	configured := precis.Window{Tokens: 50_000, Source: precis.SourceConfigured}
	for name, c := range map[string]struct {
		h      *history
		tokens int
		source precis.Source
	}{
		"nothing is known":                        {of(assumed), 128_000, "assumed"},
		"the catalog":                             {of(catalog), 200_000, "catalog"},
		"the server has more":                     {of(catalog).serve(1_000_000), 1_000_000, "server"},
		"the server has less":                     {of(catalog).serve(32_768), 32_768, "server"},
		"the user wins over the server":           {of(configured).serve(32_768), 50_000, "configured"},
		"the user wins over an error":             {of(configured).refuse(40_000, 8192), 50_000, "configured"},
		"the user wins over an answer":            {of(configured).accept(60_000), 50_000, "configured"},
		"an error without a number, small":        {of(catalog).refuse(6000, 0), 200_000, "catalog"},
		"four of them":                            {of(catalog).refuse(6000, 0).refuse(5000, 0).refuse(4500, 0).refuse(4200, 0), 200_000, "catalog"},
		"one where little is known":               {of(assumed).refuse(20_000, 0), 128_000, "assumed"},
		"one near the window":                     {of(catalog).refuse(150_000, 0), 200_000, "catalog"},
		"and once more, though less is answered":  {of(catalog).refuse(150_000, 0).accept(120_000).refuse(150_000, 0), 145_500, "learned"},
		"larger ones are tried after two answers": {of(catalog).refuse(150_000, 0).accept(120_000).refuse(150_000, 0).accept(120_000).accept(120_000), 200_000, "catalog"},
		"and refused: after four":                 {of(catalog).refuse(150_000, 0).accept(120_000).refuse(150_000, 0).accept(120_000).accept(120_000).refuse(151_000, 0).accept(120_000).accept(120_000), 145_500, "learned"},
		"a small one has no say in a large one":   {of(catalog).refuse(150_000, 0).accept(120_000).refuse(150_000, 0).refuse(8000, 0), 145_500, "learned"},
		"a person saw it":                         {of(catalog).seen(150_000).accept(120_000).accept(120_000).accept(120_000), 145_500, "learned"},
		"one near, though as much was answered":   {of(catalog).accept(160_000).refuse(150_000, 0), 200_000, "catalog"},
		"less is answered, more refused again":    {of(catalog).refuse(60_000, 0).accept(40_000).refuse(62_000, 0), 58_200, "learned"},
		"as much is answered, then refused":       {of(catalog).refuse(60_000, 0).accept(61_000).refuse(62_000, 0), 200_000, "catalog"},
		"confirmed, then more is answered":        {of(catalog).refuse(60_000, 0).accept(40_000).refuse(62_000, 0).accept(70_000), 200_000, "catalog"},
		"a confirmation that comes too late":      {of(catalog).refuse(60_000, 0).accept(40_000).after(2*time.Hour).refuse(62_000, 0), 200_000, "catalog"},
		"a window that is too small to be one":    {of(catalog).refuse(3000, 0).accept(2000).refuse(3000, 0), 200_000, "catalog"},
		"an error with a number":                  {of(catalog).refuse(60_000, 32_768), 32_768, "learned"},
		"a smaller one":                           {of(catalog).refuse(60_000, 500), 200_000, "catalog"},
		"a larger number, of a large request":     {of(assumed).refuse(127_000, 131_072), 131_072, "learned"},
		"a larger number, of a small request":     {of(assumed).refuse(6000, 1_000_000), 128_000, "assumed"},
		"a number, then more is answered":         {of(catalog).refuse(60_000, 32_768).accept(50_000), 200_000, "catalog"},
		"a number expires":                        {of(catalog).refuse(60_000, 32_768).after(time.Hour), 200_000, "catalog"},
		"not when it was said again":              {of(catalog).refuse(60_000, 32_768).after(time.Hour).refuse(60_000, 32_768).after(time.Hour), 32_768, "learned"},
		"but then":                                {of(catalog).refuse(60_000, 32_768).after(time.Hour).refuse(60_000, 32_768).after(2 * time.Hour), 200_000, "catalog"},
		"one that is larger does not":             {of(assumed).refuse(127_000, 131_072).after(1000 * time.Hour), 131_072, "learned"},
		"a size expires":                          {of(catalog).seen(150_000).after(10 * time.Minute), 200_000, "catalog"},
		"the server said so before the error":     {of(catalog).serve(1_000_000).refuse(210_000, 200_000), 200_000, "learned"},
		"and says the same again":                 {of(catalog).serve(1_000_000).refuse(210_000, 200_000).after(time.Minute).serve(1_000_000), 200_000, "learned"},
		"the server has more since":               {of(catalog).serve(32_768).refuse(40_000, 32_768).after(time.Minute).serve(65_536), 65_536, "server"},
		"the server has less since":               {of(catalog).serve(65_536).after(time.Minute).serve(32_768), 32_768, "server"},
		"an answer proves more than the catalog":  {of(catalog).accept(250_000), 250_000, "learned"},
		"an answer proves more than the server":   {of(catalog).serve(32_768).accept(40_000), 40_000, "learned"},
		"the window becomes smaller":              {of(catalog).accept(190_000).refuse(190_000, 100_000), 100_000, "learned"},
		"the server cannot be asked any more":     {of(catalog).serve(32_768).failing(), 32_768, "server"},
		"the server says no more what it said":    {of(catalog).serve(32_768).serve(0), 200_000, "catalog"},
		"the sum of several requests is no proof": {of(catalog).summed(600_000, 150_000), 200_000, "catalog"},
	} {
		t.Run(name, func(t *testing.T) {
			if w := c.h.window(); w.Tokens != c.tokens || w.Source != c.source {
				t.Errorf("%v, want %d (%s)", w, c.tokens, c.source)
			}
		})
	}
}

func (h *history) failing() *history {
	h.served = h.served.After(window.Served{Fault: window.Failing, Detail: "up/v1/models answered 500", Asked: h.now})
	return h
}

func (h *history) summed(input, counted int) *history {
	h.e = h.e.Accept(input, counted, h.now)
	return h
}

func TestAnErrorThatIsConfirmedHoldsLongerEachTimeButNotForEver(t *testing.T) {
	h := of(catalog)
	was := time.Duration(0)
	for range 20 {
		h.refuse(60_000, 32_768)
		held := time.Duration(0)
		for h.window().Tokens == 32_768 {
			h.after(time.Minute)
			if held += time.Minute; held > 25*time.Hour {
				t.Fatal("it holds for ever")
			}
		}
		if held < was {
			t.Errorf("it holds %v, the time before %v", held, was)
		}
		was = held
	}
	if was != 24*time.Hour {
		t.Errorf("at last it holds %v", was)
	}
}

func TestWhyAServerStatesNothingIsSaid(t *testing.T) {
	h := of(catalog)
	h.failing()
	if w := h.window(); w.Detail != "catalog entry; up/v1/models answered 500" || w.Source != "catalog" {
		t.Errorf("%v", w)
	}
}

func TestDue(t *testing.T) {
	for name, c := range map[string]struct {
		s     window.Served
		after time.Duration
	}{
		"an answer":       {window.Served{Tokens: 5000}, 24 * time.Hour},
		"no answer":       {window.Served{Fault: window.Silent}, 24 * time.Hour},
		"failing":         {window.Served{Fault: window.Failing}, 10 * time.Minute},
		"not allowed":     {window.Served{Fault: window.Refusal}, 10 * time.Minute},
		"not loaded yet":  {window.Served{Fault: window.Loading}, time.Minute},
		"was not asked":   {window.Served{}, 0},
		"failing, though": {window.Served{Tokens: 5000, Fault: window.Failing}, 24 * time.Hour},
	} {
		if name != "was not asked" {
			c.s.Asked = start
			if c.s.NeedsQuery(start.Add(c.after - 1)) {
				t.Errorf("%s: due too soon", name)
			}
		}
		if !c.s.NeedsQuery(start.Add(c.after)) {
			t.Errorf("%s: not due", name)
		}
	}
}

// A limit without a number is doubted while an upstream in trouble may have made it up, is
// stored with its doubt, and one of an earlier version of precis, which had none, is not.
func TestALimitWithoutANumberIsDoubtedForAWhile(t *testing.T) {
	h := of(catalog).refuse(150_000, 0).accept(120_000).refuse(150_000, 0)
	if w := h.window(); !h.known().Doubted() {
		t.Errorf("%v is not doubted", w)
	}
	data, err := json.Marshal(h.e)
	if err != nil {
		t.Fatal(err)
	}
	k := h.known()
	k.Evidence = window.Evidence{}
	if err := json.Unmarshal(data, &k.Evidence); err != nil || !k.Doubted() {
		t.Errorf("as it is stored: %v, %s", err, data)
	}
	for range 4 { // confirmed again and again
		h.after(3*time.Minute).refuse(150_000, 0)
	}
	if w := h.window(); w.Source != precis.SourceLearned || h.known().Doubted() {
		t.Errorf("%v after a quarter of an hour, doubted: %v", w, h.known().Doubted())
	}
	k = of(catalog).known()
	if json.Unmarshal([]byte(`{"refused":{"tokens":145500,"time":"2026-01-02T03:04:05Z","times":1}}`), &k.Evidence) != nil || k.Window().Tokens != 145_500 || k.Doubted() {
		t.Errorf("%+v", k)
	}
}

// What is set precedes what was recorded, and that the table; only a refusal that a request must get
// over precedes what is set.
func TestWhatPrecedes(t *testing.T) {
	table := func(w precis.Window) func(string) precis.Window { return func(string) precis.Window { return w } }
	refused := window.Evidence{}.Refuse(window.Overflow{Limit: 32_768, Counted: 60_000, Known: 200_000}, start)
	for name, c := range map[string]struct {
		k    window.Known
		want precis.Window
	}{
		"nothing":   {window.Known{}, assumed},
		"the table": {window.Known{Table: table(catalog)}, catalog},
		"a record":  {window.Known{Table: table(catalog), Recorded: 258_400}, precis.Window{Tokens: 258_400, Source: precis.SourceRecorded}},
		"a record, and the user's number in the table": {window.Known{Table: table(precis.Window{Tokens: 9000, Source: precis.SourceConfigured}), Recorded: 258_400},
			precis.Window{Tokens: 9000, Source: precis.SourceConfigured}},
		"a setting": {window.Known{Set: 7000, By: "window of --window", Table: table(catalog), Recorded: 258_400, Evidence: refused, Now: start},
			precis.Window{Tokens: 7000, Source: precis.SourceConfigured, Detail: "window of --window"}},
		"a setting, of a request that was refused": {window.Known{Set: 70_000, Ceiling: 6000, Upstream: "up"}, precis.Window{Tokens: 6000, Source: precis.SourceLearned, Detail: "an error of up, for this request"}},
		"a ceiling above the window":               {window.Known{Set: 70_000, Ceiling: 80_000}, precis.Window{Tokens: 70_000, Source: precis.SourceConfigured}},
		"an error, then a smaller one":             {window.Known{Table: table(catalog), Evidence: refused, Now: start, Ceiling: 40_000, Upstream: "up"}, precis.Window{Tokens: 32_768, Source: precis.SourceLearned, Detail: "an error of up"}},
	} {
		if w := c.k.Window(); w != c.want {
			t.Errorf("%s: %+v, want %+v", name, w, c.want)
		}
	}
}

func TestUncertain(t *testing.T) {
	odd := window.Overflow{Counted: 60_000, Known: 200_000}
	for name, c := range map[string]struct {
		k    window.Known
		o    window.Overflow
		want bool
	}{
		"one refusal without a number": {of(catalog).refuse(60_000, 0).known(), odd, true},
		"with a number":                {of(catalog).refuse(60_000, 32_768).known(), window.Overflow{Limit: 32_768, Counted: 60_000, Known: 200_000}, false},
		"confirmed, but doubted":       {of(catalog).refuse(150_000, 0).accept(120_000).refuse(150_000, 0).known(), odd, true},
		"confirmed long ago":           {of(catalog).seen(150_000).known(), odd, false},
		"the user set the window":      {window.Known{Set: 200_000, Now: start}, odd, false},
	} {
		if got := c.k.Uncertain(c.o); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestCeiling(t *testing.T) {
	for _, c := range []struct{ limit, retries, want int }{{0, 0, 0}, {0, 1, 8800}, {0, 2, 7500}, {5000, 0, 5000}, {5000, 2, 5000}} {
		if got := (window.Overflow{Limit: c.limit, Counted: 10_000}).Ceiling(c.retries); got != c.want {
			t.Errorf("limit %d, %d retries: %d", c.limit, c.retries, got)
		}
	}
}
