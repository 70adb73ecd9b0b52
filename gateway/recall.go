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

// recaller answers the calls of the recall tool in one response, so that the
// responses to its follow-ups become one.
type recaller struct {
	sent   composed // what was sent last
	times  int      // follow-ups
	merger *recall.Merger

	spent  precis.Usage // of responses before the present one
	input  int          // input tokens of the first of them
	summed bool         // spent is that of all responses
}

// recalls reports whether a response is one in which the tool may be called.
func (p *pipe) calls(in *reply) bool {
	return p.work == workTurn && in.res.StatusCode == http.StatusOK && in.problem == nil &&
		in.res.Header.Get("Content-Encoding") == "" && (in.stream || strings.Contains(in.res.Header.Get("Content-Type"), "json"))
}

// recallStream puts a merger of several responses before the client.
func (p *pipe) recallStream() {
	if p.in.stream && p.calls(p.in) {
		p.merger = recall.NewMerger(p.dialect.Name(), p.to)
		p.to = p.merger
	}
}

// recallOn answers the calls at the end of a stream and passes on what the model
// says then, until it calls no more.
func (p *pipe) recallOn(out *http.ResponseController) error {
	for {
		a, err := p.merger.End()
		if err != nil {
			return errClient{err}
		}
		if !a.Due() || p.times >= maxRecalls {
			break
		}
		p.in.events.Flush()
		next, err := p.followUp(a)
		if err != nil {
			return err
		}
		if next.res.StatusCode != http.StatusOK || !next.stream {
			p.refused(next)
			return nil
		}
		p.merger.Next()
		if err := p.relayNext(next, out); err != nil {
			return err
		}
	}
	if err := p.merger.Finish(); err != nil {
		return errClient{err}
	}
	_ = out.Flush() // a writer that cannot flush has nothing to
	return nil
}

// relayNext relays a further response as part of the one before.
func (p *pipe) relayNext(next *reply, out *http.ResponseController) error {
	defer next.close()
	if _, err := p.to.Write(next.head); err != nil {
		return errClient{err}
	}
	err := next.err
	if !next.whole {
		err = p.copy(next, out)
	}
	next.events.Flush()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// refused ends a stream whose follow-up was refused, with what it was refused
// with.
func (p *pipe) refused(next *reply) {
	defer next.close()
	p.err = precis.Errorf(precis.CodeUpstream, "answer", "the upstream refused to go on with status %d", next.res.StatusCode)
	body := next.head
	if next.res.StatusCode == http.StatusOK {
		body = []byte("the upstream did not go on with a stream")
	}
	p.out.failStream(body)
}

// followUp sends the request again with an answer and the results of its calls.
// When that is too long for the upstream, half of what was asked for is sent, and
// at last only that it is too long.
func (p *pipe) followUp(a *recall.Answer) (in *reply, err error) {
	p.next(&p.answer)
	p.r.Header.Del("Idempotency-Key") // this is another request
	most := p.recallTokens()
	library := &recall.Library{Transcript: p.p.found.Line.Transcript.Prefix(p.p.found.Len), Earlier: p.p.earlier, Before: p.p.predecessors, Meter: p.p.manager.NewMeter()}
	for _, limit := range []int{most, most / 2, 0} {
		results := library.Answer(p.r.Context(), a.Calls, limit, p.times >= maxRecalls)
		if in, err = p.sendBehind(a, results); err != nil {
			return nil, err
		}
		if _, over := overflow.Classify(in.res.StatusCode, in.problem); in.problem == nil || !over || limit == 0 {
			break
		}
		_ = in.close()
	}
	return in, nil
}

// sendBehind sends the request with an answer and results behind its messages.
func (p *pipe) sendBehind(a *recall.Answer, results []recall.Result) (*reply, error) {
	list := p.dialect.List()
	b, err := wire.Parse(p.sent.body, "", nil)
	if err != nil {
		return nil, err // it was made of one that could be read
	}
	d := b.Draft()
	d.Set(list, a.Append(d.Get(list), results))
	next := p.sent
	next.body = d.Bytes()
	p.answer = wire.Response{Keep: p.answer.Keep}
	res, err := p.send(p.r.Context(), p.p, next)
	if err != nil {
		return nil, err
	}
	in := p.receive(res, maxWhole)
	if in.problem == nil {
		p.sent = next
	}
	return in, nil
}

// recallWhole answers the calls in an answer that is no stream, and puts what the
// model says then in its place.
func (p *pipe) recallWhole() {
	in := p.in
	if !p.calls(in) {
		return
	}
	if in.stream { // see recallStream; its length changes
		in.whole = false
		in.res.Header.Del("Content-Length")
		return
	}
	if !in.whole && in.err == nil {
		in.readMore(maxWhole)
	}
	w := recall.Whole{Dialect: p.dialect.Name()}
	a := w.Add(in.head)
	if !in.whole || a == nil || len(a.Calls) == 0 {
		return
	}
	p.dialect.Observe(&p.answer, in.head)
	for a.Due() && p.times < maxRecalls {
		next, err := p.followUp(a)
		_ = in.close()
		if err != nil {
			next = p.unreached(err)
		}
		if a = w.Add(next.head); a == nil || next.res.StatusCode != http.StatusOK || next.err != nil || !next.whole {
			in.res, in.head, in.whole, in.err = next.res, next.head, next.whole, next.err
			p.err = precis.Errorf(precis.CodeUpstream, "answer", "the upstream did not go on: status %d", next.res.StatusCode)
			return
		}
		in.res.Body = next.res.Body
	}
	in.head = w.Bytes()
	p.sum(&p.answer) // before others look at the one answer
}

// unreached makes the response for an upstream that could not be reached again.
func (p *pipe) unreached(err error) *reply {
	p.g.o.Logger.WarnContext(p.r.Context(), "upstream failed", "upstream", p.upstream.Name, "error", plainError(err))
	h := http.Header{"Content-Type": {"application/json"}, headerError: {string(precis.CodeUpstream)}}
	return &reply{
		res:  &http.Response{StatusCode: http.StatusBadGateway, Header: h, Body: http.NoBody},
		head: errorBody(p.route, "api_error", p.upstream.Name+": "+plainError(err)), whole: true, events: &wire.Events{},
	}
}

// next counts what an answer has used, before the next one is asked for.
func (r *recaller) next(a *wire.Response) {
	if r.times++; r.times == 1 {
		r.input = a.Input
	}
	r.add(a.Usage)
}

func (r *recaller) add(u precis.Usage) {
	r.spent.Input += u.Input
	r.spent.Output += u.Output
	r.spent.CacheRead += u.CacheRead
	r.spent.CacheWrite += u.CacheWrite
}

// sum makes the usage that of all answers. The input stays that of the first:
// this is what the view was counted as.
func (r *recaller) sum(last *wire.Response) {
	if r.times == 0 {
		return
	}
	if !r.summed {
		r.add(last.Usage)
		r.summed = true
	}
	last.Usage, last.Input = r.spent, r.input
}

// recallTokens is how much of what was said one answer may ask for, in tokens.
func (p *pipe) recallTokens() int {
	n := p.g.o.RecallTokens
	if w := p.p.result.Report.Decision.Window.Tokens; w > 0 {
		n = min(n, w/4)
	}
	return n
}

// earlier loads the forms that the conversation had before its client cleared
// results.
func (p *placed) earlier() (out []*precis.Transcript) {
	for _, head := range p.conv.Info().Earlier {
		t, _ := p.g.conversations.Earlier(p.r.Context(), p.owner, p.conv.ID(), head) // without the store the shorter form is there
		if t != nil {
			out = append(out, t)
		}
	}
	return out
}
