package lineage

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/wire"
)

// MaxMessages is how many messages a request may have. Even an empty message takes some hundred
// bytes.
const MaxMessages = 100_000

// longestModel is the longest name of a model, in bytes. It is used in logs, in metrics and in
// records.
const longestModel = 512

// TooManyError is the error of a request with more than [MaxMessages] messages.
type TooManyError struct{ Messages int }

func (e *TooManyError) Error() string {
	return fmt.Sprintf("%d messages are more than the %d that are read", e.Messages, MaxMessages)
}

// Request is a request to place.
type Request struct {
	Owner string // its owner; requests of different owners share no nodes
	// Scope separates an owner's conversations with equal content: requests of different scopes
	// share no nodes in memory. "": the scope of conversations that are identified only by their
	// content.
	Scope   string
	Dialect wire.Dialect
	Body    []byte // retained, must not be changed
	// Passes reports whether to place the request without remembering it, because it is no turn of
	// a conversation. It is called once, before the lookup. Nil: all requests are turns.
	Passes func(body *wire.Body, prompt wire.Prompt, msgs []precis.Message) Passes
}

// Passes is the condition for placing a request without remembering it.
type Passes uint8

// The conditions.
const (
	PassNever Passes = iota
	PassKnown        // if it continues a known conversation
	PassAlways
)

func (r Request) space() string { return Space(r.Owner, r.Scope) }

// Place finds the place of a request and remembers it. The error is [precis.CodeInvalid] for an
// unreadable body, with the byte or message at fault, and [TooManyError] for one with too many messages.
// If Load fails, Place uses only memory, and returns the place together with the error.
func (t *Table[S]) Place(ctx context.Context, r Request) (*Placement[S], error) {
	f, prints, err := t.read(r)
	if err != nil {
		return nil, err
	}
	passes := PassNever
	if r.Passes != nil {
		passes = r.Passes(f.Body, f.Prompt, f.Messages)
	}
	if f.Len == 0 {
		passes = PassAlways
	}
	var known *Known
	var loadErr error
	if passes != PassAlways {
		known, loadErr = t.load(ctx, r, prints)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.classify(f, r, prints, known, passes)
	return f, loadErr
}

// read parses the body and decodes its new messages, based on the line that it seems to continue.
func (t *Table[S]) read(r Request) (*Placement[S], []precis.Fingerprint, error) {
	near := t.nearestLine(r)
	body, err := wire.Parse(r.Body, r.Dialect.List(), near.body)
	if err != nil {
		return nil, nil, &precis.Error{Code: precis.CodeInvalid, Op: "read request", Err: err}
	}
	if n := len(body.Items()); n > MaxMessages {
		return nil, nil, &TooManyError{n}
	}
	f := &Placement[S]{Body: body}
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
		// Messages outlive the body: a slice of it would keep all of it in memory.
		m, err := r.Dialect.Decode(bytes.Clone(body.Item(i)))
		if err != nil {
			return nil, nil, &precis.Error{Code: precis.CodeInvalid, Op: "read request",
				Place: fmt.Sprintf("%s %d at byte %d", r.Dialect.List(), i, body.Items()[i].From), Err: err}
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
		prints = append(prints, near.fingerprints[:same-f.Lead]...)
	}
	f.Prompt = prompt(r.Dialect, body, near, same > 0, lead)
	if n := len(f.Prompt.Model); n > longestModel {
		return nil, nil, precis.Errorf(precis.CodeInvalid, "read request",
			"model: the name has %d bytes, more than %d", n, longestModel)
	}
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

// prompt reads all of the body except the messages, and adds lead to the system prompt. Parts that
// equal the neighbor's are the same values, so that they are not counted again.
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
	if was := near.prompt; len(was.System.Content) > 0 &&
		precis.HashMessage(was.System) == precis.HashMessage(p.System) {
		p.System = was.System
	}
	if p.Tools = bytes.Clone(p.Tools); bytes.Equal(p.Tools, near.prompt.Tools) {
		p.Tools = near.prompt.Tools
	}
	return p
}

// load asks the store if memory does not know all messages of the request.
func (t *Table[S]) load(ctx context.Context, r Request, prints []precis.Fingerprint) (*Known, error) {
	if t.o.Load == nil || len(prints) == 0 {
		return nil, nil
	}
	t.mu.Lock()
	p, n := t.deepest(r.space(), prints)
	at := n > 0 && n == len(p.line.fingerprints)
	t.mu.Unlock()
	if at {
		return nil, nil // it continues a line in memory
	}
	return t.o.Load(ctx, r.Owner, r.Scope, prints, n)
}

// deepest returns the last known node, and the number of messages up to it. Of several lines
// through the node it prefers one that ends there.
func (t *Table[S]) deepest(space string, prints []precis.Fingerprint) (place[S], int) {
	for n := len(prints); n > 0; n-- {
		if p, ok := t.nodes[nodeKey{space, prints[n-1]}]; ok {
			return p, n
		}
	}
	return place[S]{}, 0
}

// classify determines the kind of the request and remembers it. The table is locked.
func (t *Table[S]) classify(f *Placement[S], r Request, prints []precis.Fingerprint, known *Known,
	passes Passes) {
	p, n := t.deepest(r.space(), prints)
	f.Known, f.Kind = n, First
	f.Parent = t.parent(r.space(), prints, n)
	if again, at := t.replays(f, r, prints, p.line, n); again != nil {
		p.line, n = again, at
	}
	switch l := p.line; {
	case n > 0 && n == len(l.fingerprints) && t.ids[nodeID{l.Owner, l.ID}] != l:
		f.Kind, f.From = Branched, l // the form before its client's rewrite continues separately
	case n > 0 && n == len(l.fingerprints) && n == f.Len:
		f.Line, f.Kind = l, Repeated
	case n > 0 && n == len(l.fingerprints):
		f.Line, f.Kind = l, Extended
	case known != nil && known.Len > n:
		f.Known, f.Kind = known.Len, Branched
		if known.Record != nil {
			f.Kind, f.Parent = Extended, known.Record.Head
		}
	default:
		if old, at := t.rewritten(f, r, n); old != nil {
			f.Kind, f.From, f.Known, f.Parent = Rewritten, old, at, old.fingerprints[at-1]
		} else if n > 0 && t.continuesEnd(f, l, n) {
			f.Kind, f.From, f.Parent = Amended, l, l.fingerprints[len(l.fingerprints)-1]
		} else if hasReply(f.Messages[:n]) {
			f.Kind, f.From = Branched, l
		} else if n == f.Len {
			f.Parent = precis.Fingerprint{} // only its beginning is equal
		}
	}
	if passes == PassAlways || passes == PassKnown && f.Kind != First {
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

// replays returns the line that a request continues while it repeats, word for word, the messages
// of another line: the one that ends one turn before the request, and its number of messages. Nil:
// there is no such line. Without it, each request of a repeated conversation would become a branch
// of its own.
func (t *Table[S]) replays(f *Placement[S], r Request, prints []precis.Fingerprint, l *Line[S],
	n int) (*Line[S], int) {
	if l == nil || n < 2 || n == len(l.fingerprints) {
		return nil, 0
	}
	turns := 0
	for m := n - 1; m > 0; m-- {
		reply := func(i int) bool { return f.Messages[i].Role == precis.RoleAssistant }
		if reply(m) && !reply(m-1) {
			turns++
		}
		if turns > 1 {
			break
		}
		if open := t.ends[nodeKey{r.space(), prints[m-1]}]; turns == 1 && open != nil && open != l &&
			t.ids[nodeID{open.Owner, open.ID}] == open {
			return open, m
		}
	}
	return nil, 0
}

// mostVolatile is how many messages at the end of a request a client may send only once.
const mostVolatile = 3

// continuesEnd reports whether a request continues the newest request of a line although its client sent
// the end of that one only once. After n messages, the line has a few that the request lacks; none
// is an answer, except the beginning of one that the client wrote itself. The request has the
// answer in their place, perhaps after a message that lost a note. A request with another question
// there is a branch.
func (t *Table[S]) continuesEnd(f *Placement[S], l *Line[S], n int) bool {
	once := l.Transcript.Messages()[n:]
	if t.ids[nodeID{l.Owner, l.ID}] == l && lostNotes(once, f.Messages[n:]) {
		return true
	}
	if len(once) > mostVolatile || t.ids[nodeID{l.Owner, l.ID}] != l || !hasReply(f.Messages[:n]) {
		return false
	}
	instead := f.Messages[n:min(n+len(once)+1, f.Len)]
	prefill := len(once) == 1 && hasReply(once) &&
		!slices.ContainsFunc(once[0].Content,
			func(b precis.Block) bool { _, call := b.(precis.ToolUse); return call })
	if !prefill && hasReply(once) || !hasReply(instead) {
		return false
	}
	known := map[string]bool{}
	for _, m := range instead {
		for _, r := range resultsOf(m) {
			known[r.ToolUseID] = true
		}
	}
	for _, m := range once {
		for _, r := range resultsOf(m) {
			if !known[r.ToolUseID] {
				return false // the answer to a call is no note
			}
		}
	}
	return true
}

// mostBehindNote is how many messages may follow a note that a client omits from its next request:
// a turn with its calls and results.
const mostBehindNote = 32

// lostNotes reports whether a request repeats the end of a line without notes that preceded its
// newest turn, and then continues. The missing messages must be neither the model's nor tool
// results.
func lostNotes(once, now []precis.Message) bool {
	if len(once) > mostBehindNote || !hasReply(once) {
		return false
	}
	lost, at := 0, 0
	for _, m := range once {
		switch {
		case at < len(now) && precis.HashMessage(m) == precis.HashMessage(now[at]):
			at++
		case m.Role == precis.RoleAssistant || len(resultsOf(m)) > 0:
			return false
		default:
			lost++
		}
	}
	return lost > 0 && lost <= mostVolatile && at < len(now)
}

// hasReply reports whether the messages contain one of the model. Before that, equal beginnings do
// not make two requests one conversation.
func hasReply(msgs []precis.Message) bool {
	return slices.ContainsFunc(msgs, func(m precis.Message) bool { return m.Role == precis.RoleAssistant })
}

// parent returns the last node of the first n where an earlier request ended, or
// zero.
func (t *Table[S]) parent(space string, prints []precis.Fingerprint, n int) precis.Fingerprint {
	for ; n > 0; n-- {
		if t.nodes[nodeKey{space, prints[n-1]}].end {
			return prints[n-1]
		}
	}
	return precis.Fingerprint{}
}

// pass makes a line for a request that is not to be remembered.
func (t *Table[S]) pass(f *Placement[S], r Request, known *Known) {
	if f.Line != nil && f.Kind == Repeated {
		return
	}
	from := f.Line
	if from == nil {
		from = f.From
	}
	f.From = from
	f.Line = &Line[S]{Owner: r.Owner, Scope: r.Scope, Dialect: r.Dialect.Name(),
		Transcript: precis.NewTranscript(f.Messages...), removed: true}
	switch {
	case from != nil:
		f.Line.ID, known = from.ID, nil
	case known != nil && known.Len == f.Known:
		f.Line.ID = known.id()
	}
	if t.o.Adopt != nil {
		f.Line.State = t.o.Adopt(f, known)
	}
}

// begin makes a new line.
func (t *Table[S]) begin(f *Placement[S], r Request, prints []precis.Fingerprint, known *Known) {
	own := append(make([]precis.Message, 0, f.Len+8), f.Messages...)
	l := &Line[S]{Owner: r.Owner, Scope: r.Scope, Dialect: r.Dialect.Name(),
		Transcript: precis.NewTranscript(own...), fingerprints: prints}
	l.skeleton = skeletons(nil, own)
	switch {
	case known.id() != "" && known.Len == f.Known:
		l.ID, l.Earlier, l.Branched = known.id(), known.Record.Earlier, known.Record.Branched
	case f.Kind == Rewritten:
		old := f.From
		l.ID, l.Branched = old.ID, old.Branched
		l.Earlier = append(append([]precis.Fingerprint{}, old.Earlier...),
			old.fingerprints[len(old.fingerprints)-1])
		t.unindex(old)
	case f.Kind == Amended:
		l.ID, l.Branched, l.Earlier = f.From.ID, f.From.Branched, f.From.Earlier
	case f.Kind == Branched && f.From != nil:
		l.ID, l.Branched = t.lineID(r, f.Node, known), f.From.ID
	default:
		l.ID = t.lineID(r, f.Node, known)
	}
	for _, p := range prints {
		k := nodeKey{r.space(), p}
		t.nodes[k] = place[S]{line: l, end: t.nodes[k].end}
	}
	l.element = t.recent.PushFront(l)
	t.ends[nodeKey{r.space(), f.Node}] = l
	f.Line = l
	if t.o.Adopt != nil {
		l.State = t.o.Adopt(f, known)
	}
	if f.Kind == Amended {
		t.remove(f.From) // clients do not return to messages that they sent once
	}
	t.ids[nodeID{l.Owner, l.ID}] = l
}

// extend adds the new messages to a line.
func (t *Table[S]) extend(f *Placement[S], prints []precis.Fingerprint) {
	l := f.Line
	if n := len(l.fingerprints); n < len(prints) {
		own := f.Messages[n:]
		t.removeEnd(l)
		l.Transcript.Append(own...)
		t.unindex(l)
		l.skeleton = skeletons(l.skeleton, own)
		for _, p := range prints[n:] {
			k := nodeKey{l.space(), p}
			t.nodes[k] = place[S]{line: l, end: t.nodes[k].end} // another line may contain it
		}
		l.fingerprints = append(l.fingerprints, prints[n:]...)
		t.ends[nodeKey{l.space(), f.Node}] = l
	}
	t.recent.MoveToFront(l.element)
}

// weight returns roughly how many bytes a line uses: its newest body; the messages with their bytes
// and decoded form; and for each message two transcripts, fingerprints and index entries, as
// measured.
func weight(body []byte, messages int) int {
	const (
		perMessage = 900
		perLine    = 6 << 10
	)
	return cap(body) + 2*len(body) + perMessage*messages + perLine
}

// remember makes the request the newest of its line.
func (t *Table[S]) remember(f *Placement[S]) {
	l := f.Line
	k := nodeKey{l.space(), f.Node}
	if f.Len > 0 {
		t.nodes[k] = place[S]{line: l, end: true}
	}
	t.unindex(l)
	if n := len(l.skeleton); n > 0 {
		t.heads[nodeKey{l.space(), l.skeleton[n-1]}] = l
	}
	l.body, l.lead, l.prompt = f.Body, f.Lead, f.Prompt
	t.index(l)
	t.size -= l.size
	l.size = weight(f.Body.Raw(), len(l.fingerprints))
	t.size += l.size
	t.shrink(l)
}
