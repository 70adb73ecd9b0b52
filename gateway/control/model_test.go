package control_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/ledger"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/control"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/preset"
)

const summary = `1. Request and intent: files are to be read one by one. Never write to the disk.
2. Concepts: settings.
3. Files and code: f01.txt to f03.txt hold settings, nothing else.
4. Errors and fixes: none.
5. Problem solving: none.
6. All user messages: "Read the files one by one. Never write to the disk."
7. Pending tasks: the other files.
8. Current work: f04.txt.
9. Next step: read on.
`

// writer is a model that writes the same summary each time.
type writer struct{ calls atomic.Int64 }

func (w *writer) Generate(context.Context, model.Request) (model.Response, error) {
	w.calls.Add(1)
	return model.Response{
		Text:  "<summary>\n" + summary + "</summary>",
		Usage: precis.Usage{Input: 1000, Output: 40}, CostUSD: 0.01, Attempts: 1, Model: "writer",
	}, nil
}

func (w *writer) Info() model.Info { return model.Info{ID: "writer", Dialect: "chat"} }

// withWriter has the model condense.
func withWriter(t *testing.T, w *writer) change {
	return func(o *gateway.Options, _ *control.Options) {
		settings, err := preset.Settings(preset.Balanced)
		if err != nil {
			t.Fatal(err)
		}
		settings.Auto = false // only when it is asked to
		o.Manager, err = preset.New(preset.Options{Settings: settings, Condensing: &preset.Condensing{
			Writer: condense.WriterConfig{Model: w}, Price: func(int, int) string { return "about $0.02" },
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhoWritesASummary(t *testing.T) {
	w := &writer{}
	p := start(t, openStore(t), withWriter(t, w))
	a := p.agent("anthropic", "Read the files one by one. Never write to the disk.")
	a.reads(5, length)
	a.ask()
	one := "/conversations/" + a.id
	var c conversation.Condensed
	p.post(one+"/preview", p.share(one, 50), &c)
	if len(c.Prices) != 1 || !strings.Contains(c.Prices[0], "about $0.02") || w.calls.Load() != 0 {
		t.Errorf("prices %q, %d calls", c.Prices, w.calls.Load())
	}
	digest := strings.Replace(p.share(one, 50), "{", `{"summarizer":"digest",`, 1)
	before := c.Report.Before
	p.post(one+"/condense", digest, &c)
	if !c.Changed || w.calls.Load() != 0 || c.Report.Before != before {
		t.Errorf("a digest of %+v, %d calls", c.Report.Before, w.calls.Load())
	}
	p.post(one+"/undo", "", nil)
	p.post(one+"/condense", strings.Replace(digest, "digest", "model", 1), &c)
	if !c.Changed || w.calls.Load() == 0 || c.Status.Condensations != 1 {
		t.Errorf("by a model: %s, %d calls, %+v", c.Report.Outcome, w.calls.Load(), c.Report.Steps)
	}
	var sums ledger.Summary
	p.get("/ledger", &sums)
	if sums.Total.Condensing != 0.01 {
		t.Errorf("condensing cost %v", sums.Total.Condensing)
	}
	a.reads(1, 1)
	if sent := a.ask(); !strings.Contains(sent, "f01.txt to f03.txt hold settings") {
		t.Error("the next request does not have the summary")
	}
}
