package gateway

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"precis"
	"precis/gateway/recall"
	"precis/wire"
	"precis/wire/overflow"
)

// maxRecalls is how many follow-ups one request may have.
const maxRecalls = 5

// recalls reports whether a response is one in which the tool may be called.
func (t *turn) recalls(in *incoming) bool {
	return t.recall.offered && t.work == workTurn && in.res.StatusCode == http.StatusOK && in.told == nil &&
		in.res.Header.Get("Content-Encoding") == "" && (in.stream || strings.Contains(in.res.Header.Get("Content-Type"), "json"))
}

// merge returns what a stream is written to: the client, behind a merger.
func (t *turn) merge(in *incoming) io.Writer {
	if !in.stream || !t.recalls(in) {
		return in.to
	}
	in.merger = recall.NewMerger(t.dialect.Name(), in.to)
	return in.merger
}

// recallOn answers the calls at the end of a stream and passes on what the model
// says then, until it calls no more.
func (t *turn) recallOn(in *incoming, out *http.ResponseController) error {
	if in.merger == nil {
		return nil
	}
	for {
		a, err := in.merger.End()
		if err != nil {
			return errClient{err}
		}
		if !a.Due() || t.recall.times >= maxRecalls {
			break
		}
		in.events.Flush()
		next, err := t.followUp(a)
		if err != nil {
			return err
		}
		if next.res.StatusCode != http.StatusOK || !next.stream {
			t.refused(next)
			return nil
		}
		in.merger.Next()
		if err := t.passNext(in, next, out); err != nil {
			return err
		}
	}
	if err := in.merger.Finish(); err != nil {
		return errClient{err}
	}
	_ = out.Flush() // a writer that cannot flush has nothing to
	return nil
}

// passNext passes a further answer on as part of the one before.
func (t *turn) passNext(in, next *incoming, out *http.ResponseController) error {
	defer next.close()
	next.to = in.merger
	if _, err := next.to.Write(next.head); err != nil {
		return errClient{err}
	}
	err := next.err
	if !next.whole {
		err = t.copy(next, out)
	}
	next.events.Flush()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// refused ends a stream whose follow-up was refused, with what it was refused
// with.
func (t *turn) refused(next *incoming) {
	defer next.close()
	t.err = precis.Errorf(precis.CodeUpstream, "answer", "the upstream refused to go on with status %d", next.res.StatusCode)
	body := next.head
	if next.res.StatusCode == http.StatusOK {
		body = []byte("the upstream did not go on with a stream")
	}
	t.failStreamLocked(body)
}

// followUp sends the request again with an answer and the results of its calls.
// When that is too long for the upstream, half of what was asked for is sent, and
// at last only that it is too long.
func (t *turn) followUp(a *recall.Answer) (in *incoming, err error) {
	t.recall.next(&t.answer)
	t.r.Header.Del("Idempotency-Key") // this is another request
	most := t.recallTokens()
	for _, limit := range []int{most, most / 2, 0} {
		if in, err = t.sendBehind(a, t.results(a.Calls, limit)); err != nil {
			return nil, err
		}
		if _, over := overflow.Classify(in.res.StatusCode, in.told); in.told == nil || !over || limit == 0 {
			break
		}
		_ = in.close()
	}
	return in, nil
}

// sendBehind sends the request with an answer and results behind its messages.
func (t *turn) sendBehind(a *recall.Answer, results []recall.Result) (*incoming, error) {
	list := t.dialect.List()
	b, err := wire.Parse(t.recall.sent, "", nil)
	if err != nil {
		return nil, err // it was made of one that could be read
	}
	d := b.Draft()
	d.Set(list, a.Append(d.Get(list), results))
	body := d.Bytes()
	t.answer = wire.Response{}
	res, err := t.send(t.r.Context(), body)
	if err != nil {
		return nil, err
	}
	in := t.receiveNext(res)
	if in.told == nil {
		t.recall.sent = body
	}
	return in, nil
}

// receiveNext reads as much of a further answer as tells whether it is an error;
// one that is no stream whole.
func (t *turn) receiveNext(res *http.Response) *incoming {
	in := &incoming{res: res, events: &wire.Events{Each: t.event}}
	in.stream = strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream")
	switch {
	case res.StatusCode >= 400:
		in.read(t.g.o.Limits.Error)
		in.told = in.head
	case in.stream:
		t.hold(in)
	default:
		in.read(maxWhole)
		t.dialect.Observe(&t.answer, in.head)
		in.told = t.answer.Error
	}
	return in
}

// recallWhole answers the calls in an answer that is no stream, and puts what the
// model says then in its place.
func (t *turn) recallWhole(in *incoming) {
	if !t.recalls(in) {
		return
	}
	if in.stream { // see merge; its length changes
		in.whole = false
		in.res.Header.Del("Content-Length")
		return
	}
	if !in.whole && in.err == nil {
		in.readMore(maxWhole)
	}
	w := recall.Whole{Dialect: t.dialect.Name()}
	a := w.Add(in.head)
	if !in.whole || a == nil || len(a.Calls) == 0 {
		return
	}
	t.dialect.Observe(&t.answer, in.head)
	for a.Due() && t.recall.times < maxRecalls {
		next, err := t.followUp(a)
		_ = in.close()
		if err != nil {
			next = t.unreached(err)
		}
		if a = w.Add(next.head); a == nil || next.res.StatusCode != http.StatusOK || next.err != nil || !next.whole {
			in.res, in.head, in.whole, in.err = next.res, next.head, next.whole, next.err
			t.err = precis.Errorf(precis.CodeUpstream, "answer", "the upstream did not go on: status %d", next.res.StatusCode)
			return
		}
		in.res.Body = next.res.Body
	}
	in.head = w.Bytes()
	t.recall.sum(&t.answer) // before others look at the one answer
}

// unreached makes the response for an upstream that could not be reached again.
func (t *turn) unreached(err error) *incoming {
	t.g.o.Logger.WarnContext(t.r.Context(), "upstream failed", "upstream", t.upstream.Name, "error", plainError(err))
	h := http.Header{"Content-Type": {"application/json"}, headerError: {string(precis.CodeUpstream)}}
	return &incoming{
		res:  &http.Response{StatusCode: http.StatusBadGateway, Header: h, Body: http.NoBody},
		head: errorBody(t.route, "api_error", t.upstream.Name+": "+plainError(err)), whole: true, events: &wire.Events{},
	}
}

// next counts what an answer has used, before the next one is asked for.
func (r *recalling) next(a *wire.Response) {
	if r.times++; r.times == 1 {
		r.input = a.Input
	}
	r.add(a.Usage)
}

func (r *recalling) add(u precis.Usage) {
	r.spent.Input += u.Input
	r.spent.Output += u.Output
	r.spent.CacheRead += u.CacheRead
	r.spent.CacheWrite += u.CacheWrite
}

// sum makes the usage that of all answers. The input stays that of the first:
// this is what the view was counted as.
func (r *recalling) sum(last *wire.Response) {
	if r.times == 0 {
		return
	}
	if !r.summed {
		r.add(last.Usage)
		r.summed = true
	}
	last.Usage, last.Input = r.spent, r.input
}
