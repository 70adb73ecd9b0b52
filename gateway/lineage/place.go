package lineage

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"precis"
	"precis/wire"
)

// Request is what is to be placed.
type Request struct {
	Owner   string // whose it is; requests of different owners have nothing in common
	Dialect wire.Dialect
	Body    []byte // kept, and not to be changed
	// Passing tells requests that are no turn of a conversation: they are placed,
	// but nothing remembers them. Nil: all are turns.
	Passing func(*wire.Body) bool
	// Ending tells requests that are none when they follow a known conversation.
	// Nil: none is.
	Ending func(*wire.Body) bool
}

// Place finds the place of a request and remembers it. The error is
// [precis.CodeInvalid] for a body that cannot be read, with the byte or message
// at fault. What Recall failed with is returned beside the place, which is then
// what memory alone knows.
func (t *Table) Place(ctx context.Context, r Request) (*Found, error) {
	f, prints, err := t.read(r)
	if err != nil {
		return nil, err
	}
	passing := r.Passing != nil && r.Passing(f.Body) || f.Len == 0
	var known *Known
	var recallErr error
	if !passing {
		known, recallErr = t.recall(ctx, r, prints)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.settle(f, r, prints, known, passing)
	return f, recallErr
}

// read takes the body apart and decodes what is new of it, next to the line that
// it seems to continue.
func (t *Table) read(r Request) (*Found, []precis.Fingerprint, error) {
	near := t.near(r)
	body, err := wire.Parse(r.Body, r.Dialect.List(), near.body)
	if err != nil {
		return nil, nil, &precis.Error{Code: precis.CodeInvalid, Op: "read request", Err: err}
	}
	f := &Found{Body: body}
	same := body.Same()
	if same > near.lead {
		f.Lead = near.lead
		f.Messages = near.messages[: same-near.lead : same-near.lead]
	} else {
		same = 0
	}
	leading := same == 0 && r.Dialect.Name() != "anthropic"
	var lead []precis.Message
	for i := same; i < len(body.Items()); i++ {
		// Messages outlive the body: a slice of it would keep it in memory whole.
		m, err := r.Dialect.Decode(bytes.Clone(body.Item(i)))
		if err != nil {
			return nil, nil, &precis.Error{Code: precis.CodeInvalid, Op: "read request", Place: fmt.Sprintf("%s %d at byte %d", r.Dialect.List(), i, body.Items()[i].From), Err: err}
		}
		leading = leading && m.Role == precis.RoleSystem
		if leading {
			f.Lead++
			lead = append(lead, m)
			continue
		}
		f.Messages = append(f.Messages, m)
	}
	f.Len = len(f.Messages)
	prints := make([]precis.Fingerprint, 0, f.Len)
	if same > 0 {
		prints = append(prints, near.prints[:same-f.Lead]...)
	}
	f.Prompt = prompt(r.Dialect, body, near, same > 0, lead)
	var last precis.Fingerprint
	if n := len(prints); n > 0 {
		last = prints[n-1]
	}
	for _, m := range f.Messages[len(prints):] {
		last = last.Next(m)
		prints = append(prints, last)
	}
	f.Node = last
	return f, prints, nil
}

// prompt reads what the body says beside its messages, lead among it. What is
// the same as in the neighbor is the very same value, so that nobody counts it
// again.
func prompt(d wire.Dialect, body *wire.Body, near neighbor, same bool, lead []precis.Message) wire.Prompt {
	if same && body.SameAround(near.body) {
		return near.prompt
	}
	p := d.Prompt(body)
	if same {
		lead = near.prompt.Lead
	}
	p.Lead = lead
	for _, m := range lead {
		p.System.Role = precis.RoleSystem
		p.System.Content = append(p.System.Content, m.Content...)
	}
	if was := near.prompt; len(was.System.Content) > 0 && precis.HashMessage(was.System) == precis.HashMessage(p.System) {
		p.System = was.System
	}
	if p.Tools = bytes.Clone(p.Tools); bytes.Equal(p.Tools, near.prompt.Tools) {
		p.Tools = near.prompt.Tools
	}
	return p
}

// recall asks for more where memory does not know the request whole.
func (t *Table) recall(ctx context.Context, r Request, prints []precis.Fingerprint) (*Known, error) {
	if t.o.Recall == nil || len(prints) == 0 {
		return nil, nil
	}
	t.mu.Lock()
	p, n := t.deepest(r.Owner, prints)
	at := n > 0 && n == len(p.line.prints)
	t.mu.Unlock()
	if at {
		return nil, nil // it continues a line in memory
	}
	return t.o.Recall(ctx, r.Owner, prints, n)
}

// deepest returns the last of the nodes that is known and how many messages lead
// to it. Of several lines through it one that ends there is taken.
func (t *Table) deepest(owner string, prints []precis.Fingerprint) (place, int) {
	for n := len(prints); n > 0; n-- {
		if p, ok := t.nodes[nodeKey{owner, prints[n-1]}]; ok {
			return p, n
		}
	}
	return place{}, 0
}

// settle decides what the request is and remembers it. The table is locked.
func (t *Table) settle(f *Found, r Request, prints []precis.Fingerprint, known *Known, passing bool) {
	p, n := t.deepest(r.Owner, prints)
	f.Known, f.Kind = n, First
	f.Parent = t.parent(r.Owner, prints, n)
	switch l := p.line; {
	case n > 0 && n == len(l.prints) && t.ids[nodeID{l.Owner, l.ID}] != l:
		f.Kind, f.From = Branched, l // the form that its client has rewritten since goes on by itself
	case n > 0 && n == len(l.prints) && n == f.Len:
		f.Line, f.Kind = l, Repeated
	case n > 0 && n == len(l.prints):
		f.Line, f.Kind = l, Extended
	case known != nil && known.Len > n:
		f.Known, f.Kind, f.Parent = known.Len, Branched, known.Parent
		if known.ID != "" {
			f.Kind = Extended
		}
	default:
		if old, at := t.rewritten(f, r, n); old != nil {
			f.Kind, f.From, f.Known, f.Parent = Rewritten, old, at, old.prints[at-1]
		} else if answered(f.Messages[:n]) {
			f.Kind, f.From = Branched, l
		} else if n == f.Len {
			f.Parent = precis.Fingerprint{} // it only begins with the same words
		}
	}
	if passing || f.Kind != First && r.Ending != nil && r.Ending(f.Body) {
		t.pass(f, r, known)
		return
	}
	if f.Line == nil {
		t.begin(f, r, prints, known)
	} else {
		t.extend(f, prints)
	}
	t.remember(f)
}

// answered reports whether a model has said something. What only begins with the
// same words is another conversation.
func answered(msgs []precis.Message) bool {
	return slices.ContainsFunc(msgs, func(m precis.Message) bool { return m.Role == precis.RoleAssistant })
}

// parent returns the last node before the end of the request, or at it, where
// an earlier request ended.
func (t *Table) parent(owner string, prints []precis.Fingerprint, n int) precis.Fingerprint {
	for ; n > 0; n-- {
		if t.nodes[nodeKey{owner, prints[n-1]}].end {
			return prints[n-1]
		}
	}
	return precis.Fingerprint{}
}

// pass makes a line for a request that nothing is to remember.
func (t *Table) pass(f *Found, r Request, known *Known) {
	if f.Line != nil && f.Kind == Repeated {
		return
	}
	from := f.Line
	if from == nil {
		from = f.From
	}
	f.From = from
	f.Line = &Line{Owner: r.Owner, Dialect: r.Dialect.Name(), Transcript: precis.NewTranscript(f.Messages...), gone: true}
	switch {
	case from != nil:
		f.Line.ID, known = from.ID, nil
	case known != nil && known.Len == f.Known:
		f.Line.ID = known.ID
	}
	if t.o.Adopt != nil {
		f.Line.State = t.o.Adopt(f, known)
	}
}

// begin makes a new line.
func (t *Table) begin(f *Found, r Request, prints []precis.Fingerprint, known *Known) {
	own := append(make([]precis.Message, 0, f.Len+8), f.Messages...)
	l := &Line{Owner: r.Owner, Dialect: r.Dialect.Name(), Transcript: precis.NewTranscript(own...), prints: prints}
	l.skeleton = skeletons(nil, own)
	switch {
	case known != nil && known.Len == f.Known && known.ID != "":
		l.ID, l.Earlier, l.Branched = known.ID, known.Earlier, known.Branched
	case f.Kind == Rewritten:
		old := f.From
		l.ID, l.Branched = old.ID, old.Branched
		l.Earlier = append(append([]precis.Fingerprint{}, old.Earlier...), old.prints[len(old.prints)-1])
		t.unindex(old)
	case f.Kind == Branched && f.From != nil:
		l.ID, l.Branched = t.lineID(r.Owner, f.Node, known), f.From.ID
	case known != nil:
		l.ID, l.Branched = t.lineID(r.Owner, f.Node, known), known.Branched
	default:
		l.ID = t.lineID(r.Owner, f.Node, known)
	}
	for _, p := range prints {
		k := nodeKey{r.Owner, p}
		t.nodes[k] = place{line: l, end: t.nodes[k].end}
	}
	l.element = t.recent.PushFront(l)
	f.Line = l
	if t.o.Adopt != nil {
		l.State = t.o.Adopt(f, known)
	}
	t.ids[nodeID{l.Owner, l.ID}] = l
}

// extend adds what is new to a line.
func (t *Table) extend(f *Found, prints []precis.Fingerprint) {
	l := f.Line
	if n := len(l.prints); n < len(prints) {
		own := f.Messages[n:]
		l.Transcript.Append(own...)
		t.unindex(l)
		l.skeleton = skeletons(l.skeleton, own)
		for _, p := range prints[n:] {
			t.nodes[nodeKey{l.Owner, p}] = place{line: l}
		}
		l.prints = append(l.prints, prints[n:]...)
	}
	t.recent.MoveToFront(l.element)
}

// remember makes the request the newest of its line.
func (t *Table) remember(f *Found) {
	l := f.Line
	k := nodeKey{l.Owner, f.Node}
	if f.Len > 0 {
		t.nodes[k] = place{line: l, end: true}
	}
	t.unindex(l)
	if n := len(l.skeleton); n > 0 {
		t.heads[nodeKey{l.Owner, l.skeleton[n-1]}] = l
	}
	l.body, l.lead, l.prompt = f.Body, f.Lead, f.Prompt
	t.index(l)
	t.size -= l.size
	l.size = 4*len(f.Body.Raw()) + 512*len(l.prints) + 4096
	t.size += l.size
	t.shrink(l)
}
