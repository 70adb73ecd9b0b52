package gateway

import (
	"slices"

	"precis"
	"precis/gateway/recall"
	"precis/internal/jsonspan"
	"precis/wire"
	"precis/wire/chat"
	"precis/wire/responses"
)

// The model is offered a tool to read again what the view hides. Its calls are
// answered here, and the answers of the upstream become one, see recall_answer.go.

// recalling is what one request has to do with that tool.
type recalling struct {
	offered bool
	sent    []byte // the body that was sent last
	times   int    // follow-ups

	spent  precis.Usage // of answers before the present one
	input  int          // input tokens of the first of them
	summed bool         // spent is that of all answers
}

// offering decides whether the tool is offered: once something was hidden, ever
// after, for a list of tools that changes costs the prompt cache and reasoning.
func (t *turn) offering(m *job) {
	t.recall.offered = t.g.o.Recall && t.work != workCompact && !m.poly.side && hides(m.conv.Edits) &&
		(t.dialect.Name() != chat.Format || jsonspan.Int(t.found.Body.Get("n")) < 2)
}

// hides reports whether one of the edits, undone or not, hides or shortens
// something.
func hides(edits []precis.Edit) bool {
	return slices.ContainsFunc(edits, func(e precis.Edit) bool {
		return slices.ContainsFunc(e.Replace, func(r precis.Replacement) bool { return !r.Restore })
	})
}

// offer adds the tool to a request, and takes out what earlier answers have left
// behind. Reasoning that saw the tool, its calls or their results is bound to
// them, also when nothing is hidden any more.
func (t *turn) offer(d *wire.Draft) {
	if t.dialect.Name() == responses.Format && recall.Marked(t.found.Body.Raw()) {
		d.Set(t.dialect.List(), recall.Unmark(d.Get(t.dialect.List())))
	}
	if !t.recall.offered {
		return
	}
	tools, ok := recall.Offer(d.Get("tools"), t.dialect.Name())
	if t.recall.offered = ok; !ok {
		return
	}
	d.Set("tools", tools)
	t.bindThinking(d)
}
