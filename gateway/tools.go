package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway/asked"
	"github.com/precis-dev/precis/gateway/homes"
	"github.com/precis-dev/precis/gateway/intent"
	"github.com/precis-dev/precis/gateway/recall"
	"github.com/precis-dev/precis/gateway/splice"
	"github.com/precis-dev/precis/gateway/tool"
	"github.com/precis-dev/precis/gateway/upstream"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/chat"
	"github.com/precis-dev/precis/wire/overflow"
)

// The gateway offers two tools and answers their calls itself: recall, for reading hidden content
// again, and the condense tool, for requesting a condensation at a suitable moment. The client sees
// neither the calls nor the results.

const (
	maxFollowUps = 5 // of one request
	maxAsked     = 2 // calls of the condense tool that one request may carry out
)

// ownTools returns the enabled tools in the order of their first offer, so that a list of tools
// only grows at its end.
func (g *Gateway) ownTools() (out []tool.Tool) {
	if g.o.CondenseTool {
		out = append(out, asked.Tool())
	}
	if g.o.Recall {
		out = append(out, recall.Tool())
	}
	return out
}

// offers reports whether one of the tools is offered.
func (p *plan) offers(t tool.Tool) bool {
	if t.Name == asked.Name {
		return p.condense
	}
	return p.recall
}

// chooseTools decides which tools to offer: the condense tool from the first message on, recall from the
// first hidden message on. Both stay for the rest of the conversation, because a changed list of
// tools invalidates the prompt cache and bound reasoning; hiding the first message does so anyway.
// The conversation is locked.
func (j *planner) chooseTools() {
	able := j.assembly == nil && j.Work != intent.Compact && !j.poly.Only &&
		(j.Dialect.Name() != chat.Format || jsonspan.Int(j.found.Body.Get("n")) < 2)
	j.recall = able && j.g.o.Recall && recall.Hides(j.work.Edits)
	j.condense = able && j.g.o.CondenseTool
}

// answerer answers the calls of the gateway's own tools in one response, and merges the responses
// to its follow-ups into it.
type answerer struct {
	sent          composed // the request that follow-ups extend
	followUpTurns []turn   // turns added by the follow-ups that were sent, in order
	times         int      // number of follow-ups
	asked         int      // calls of the condense tool that were carried out
	merger        *tool.Merger

	earlierUsage precis.Usage // of the responses before the current one
	input        int          // input tokens of the first response
	summed       bool         // spent includes all responses
}

// turn is the model's output in one response, and the results of its calls.
type turn struct {
	answer  *tool.Answer
	results []tool.Result
}

// calls reports whether a response may contain calls of the tools.
func (p *pipe) calls(in *reply) bool {
	return p.Work == intent.Turn && in.res.StatusCode == http.StatusOK && in.problem == nil &&
		in.res.Header.Get("Content-Encoding") == "" &&
		(in.stream || strings.Contains(in.res.Header.Get("Content-Type"), "json"))
}

// mergeStream inserts a merger of several responses before the client.
func (p *pipe) mergeStream() {
	if p.in.stream && p.calls(p.in) {
		p.merger = tool.NewMerger(p.Dialect.Name(), p.to, p.sent.tools)
		p.to = p.merger
	}
}

// answerCalls answers the calls at the end of a stream and relays the model's further output, until it
// makes no more calls.
func (p *pipe) answerCalls(out *http.ResponseController) error {
	for {
		a, err := p.merger.End()
		if err != nil {
			return errClient{err}
		}
		if !a.Due() || p.times >= maxFollowUps {
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
	_ = out.Flush() // fails only for a writer without a buffer
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

// refused ends a stream with the error that its follow-up received.
func (p *pipe) refused(next *reply) {
	defer next.close()
	p.err = precis.Errorf(precis.CodeUpstream, "answer", "the upstream refused to go on with status %d",
		next.res.StatusCode)
	body := next.head
	if next.res.StatusCode == http.StatusOK {
		body = []byte("the upstream did not go on with a stream")
	}
	p.out.failStream(body)
}

// followUp sends the request again with an answer and the results of its calls. If the upstream
// finds that too long, it retries with half of each result, and finally with only a note that the
// results are too long. If the upstream refuses it for another reason, and the view was condensed
// meanwhile, it retries with the earlier view.
func (p *pipe) followUp(a *tool.Answer) (in *reply, err error) {
	p.next(&p.answer)
	p.r.Header.Del("Idempotency-Key") // this is another request
	was, shown := p.sent, p.p
	results, reads := p.runCondenseCalls(a)
	for _, limit := range p.limits(len(reads)) {
		p.runRecallCalls(a, results, reads, limit)
		if in, err = p.sendFollowUp(a, p.withNote(a, results)); err != nil {
			return nil, err
		}
		if _, over := overflow.Classify(in.res.StatusCode, in.problem); in.problem == nil || !over {
			break
		}
		if limit > 0 {
			_ = in.close()
		}
	}
	if in.problem != nil && p.p != shown && p.r.Context().Err() == nil {
		_ = in.close()
		p.sent, p.p = was, shown
		for i, c := range a.Calls {
			if c.Name == asked.Name && !results[i].Failed {
				results[i].Text += "\nThis is shown from the next request on."
			}
		}
		return p.sendFollowUp(a, p.withNote(a, results))
	}
	return in, nil
}

// limits returns the total tokens allowed for the results of n calls of the recall tool, one number
// per try; without such calls there is one try.
func (p *pipe) limits(n int) []int {
	if n == 0 {
		return []int{0}
	}
	most := p.recallTokens()
	return []int{most, most / 2, 0}
}

// runCondenseCalls carries out the calls of the condense tool in an answer. Results has a place for
// each call; reads are the indexes of the remaining ones, which are calls of the recall tool.
func (p *pipe) runCondenseCalls(a *tool.Answer) (results []tool.Result, reads []int) {
	results = make([]tool.Result, len(a.Calls))
	for i, c := range a.Calls {
		if c.Name == asked.Name {
			results[i] = p.ask(c)
		} else {
			reads = append(reads, i)
		}
	}
	return results, reads
}

// runRecallCalls fills in the results of calls of the recall tool.
func (p *pipe) runRecallCalls(a *tool.Answer, results []tool.Result, reads []int, limit int) {
	if len(reads) == 0 {
		return
	}
	calls := make([]tool.Call, len(reads))
	for k, i := range reads {
		calls[k] = a.Calls[i]
	}
	library := &recall.Library{Transcript: p.p.found.Line.Transcript.Prefix(p.p.found.Len),
		Earlier: p.p.earlier, Before: p.p.predecessors, Meter: p.p.manager.NewMeter()}
	for k, r := range library.Answer(p.r.Context(), calls, limit) {
		results[reads[k]] = r
	}
}

// withNote adds a note to the results when they are the last of this turn.
func (p *pipe) withNote(a *tool.Answer, results []tool.Result) []tool.Result {
	if p.times < maxFollowUps {
		return results
	}
	out := slices.Clone(results)
	for i := range out {
		out[i].Text += "\n\n[This was the last time that " + a.Calls[i].Name +
			" is answered in this turn. Go on with what there is.]"
	}
	return out
}

// sendFollowUp sends the request with an answer and its results appended to its messages and the
// earlier follow-ups.
func (p *pipe) sendFollowUp(a *tool.Answer, results []tool.Result) (*reply, error) {
	list := p.Dialect.List()
	b, err := wire.Parse(p.sent.body, "", nil)
	if err != nil {
		return nil, err // not expected: a parsable body was extended
	}
	d := b.Draft()
	behind := append(slices.Clip(p.followUpTurns), turn{a, results})
	messages := d.Get(list)
	for _, t := range behind {
		messages = t.answer.Append(messages, t.results)
	}
	d.Set(list, messages)
	next := p.sent
	next.body = d.Bytes()
	p.answer = wire.Response{Keep: p.answer.Keep}
	res, err := p.send(p.r.Context(), p.p, next)
	if err != nil {
		return nil, err
	}
	in := p.receive(res, maxWhole)
	if in.problem == nil {
		p.followUpTurns = behind
	}
	return in, nil
}

// ask answers a call of the condense tool. The view is replaced from the follow-up on: the prompt
// cache is lost once in any case, and is then filled with the smaller view. The call itself is no
// message of the conversation, so no edit can hide it.
func (p *pipe) ask(c tool.Call) tool.Result {
	in, problem := asked.ReadInput(c.Input)
	if problem == "" && p.asked >= maxAsked {
		problem = "Condensing was asked for often enough in this turn. Go on with what there is."
	}
	if problem != "" {
		return tool.Result{Text: problem, Failed: true}
	}
	p.asked++
	var report policy.Report
	var err error
	p.waiting(func() { report, err = p.condense(in) })
	if err != nil {
		p.g.o.Logger.WarnContext(p.r.Context(), "not condensed for the model",
			"conversation", p.p.conv.ID(), "code", string(precis.CodeOf(err)), "error", err)
		return asked.Failed(err)
	}
	reader := ""
	if p.p.recall {
		reader = recall.Name
	}
	return asked.Done(report, p.p.outlook, reader)
}

// waiting calls f while the client of a stream that has begun gets keep-alive bytes, written
// between two events.
func (p *pipe) waiting(f func()) {
	if p.merger == nil {
		f()
		return
	}
	p.out.mu.Unlock() // relay holds it
	defer p.out.mu.Lock()
	stop := p.p.keepAlive()
	defer stop()
	f()
}

// condense condenses the conversation, and uses the result as the view of the follow-ups.
func (p *pipe) condense(in asked.Input) (report policy.Report, err error) {
	const op = "condense conversation"
	ctx := p.r.Context()
	defer p.g.recovered(ctx, op, &err)
	now := p.p
	if !now.remembered() || now.conv.Snapshot().Conversation.Transcript.Len() != now.found.Len {
		return report, precis.Errorf(precis.CodeConflict, op, "it has gone on meanwhile")
	}
	if !now.manager.UsesModel(now.result.Report.Decision.Window) {
		leave, err := p.g.processors.Enter(ctx)
		if err != nil {
			return report, err
		}
		defer leave()
	}
	live := now.live(splice.Edited(now.result))
	out, err := conversation.Condense(WithCredentials(ctx, now.credentialsOf()),
		liveHome{p.g.homes.In(p.conversations, p.owner), live}, now.conv.ID(),
		conversation.CondenseOptions{Focus: in.Focus, Profile: now.profile, RequestedByModel: true})
	if err != nil {
		return report, err
	}
	report = out.Result.Report
	if failed := condense.Failure(report.Steps, nil); failed != "" && !out.Changed {
		return report, precis.Errorf(precis.CodeUpstream, op, "%s", failed)
	}
	if !out.Changed {
		return report, nil
	}
	p.madeByModel = append(p.madeByModel, report)
	return report, p.renew(ctx)
}

// renew makes the view of the follow-ups again, with the edits that are now in force.
func (p *pipe) renew(ctx context.Context) error {
	next, action := *p.p, p.action
	if err := next.conv.Lock(ctx); err != nil {
		return err
	}
	defer next.conv.Unlock()
	j := next.planner(ctx)
	if err := j.look(ctx); err != nil {
		return err
	}
	next.takeResult(j)
	p.action = action // reports the action of the request as first sent
	p.sent, p.p, p.newest = next.compose(), &next, &next
	return nil
}

// liveHome is a home that makes summary requests extend a client's request.
type liveHome struct {
	homes.Home
	live *policy.LiveRequest
}

// Look calls f with a conversation, see [homes.Home.Look].
func (h liveHome) Look(ctx context.Context, id string, f func(*conversation.Subject) error) error {
	return h.Home.Look(ctx, id, func(s *conversation.Subject) error {
		s.Template.Live = h.live
		return f(s)
	})
}

// answerWhole answers the calls in a non-streaming answer, and replaces it by the model's further
// output.
func (p *pipe) answerWhole() {
	in := p.in
	if !p.calls(in) {
		return
	}
	if in.stream { // see mergeStream; its length changes
		in.whole = false
		in.res.Header.Del("Content-Length")
		return
	}
	if !in.whole && in.err == nil {
		in.readMore(maxWhole)
	}
	w := tool.BodyMerger{Dialect: p.Dialect.Name(), Names: p.sent.tools}
	a := w.Add(in.head)
	if !in.whole || a == nil || len(a.Calls) == 0 {
		return
	}
	p.Dialect.Observe(&p.answer, in.head)
	for a.Due() && p.times < maxFollowUps {
		next, err := p.followUp(a)
		_ = in.close()
		if err != nil {
			next = p.unreached(err)
		}
		if a = w.Add(next.head); a == nil || next.res.StatusCode != http.StatusOK || next.err != nil ||
			!next.whole {
			in.res, in.head, in.whole, in.err = next.res, next.head, next.whole, next.err
			p.err = precis.Errorf(precis.CodeUpstream, "answer", "the upstream did not go on: status %d",
				next.res.StatusCode)
			return
		}
		in.res.Body = next.res.Body
	}
	in.head = w.Bytes()
	p.sum(&p.answer) // before the merged answer is observed
}

// unreached makes the response for an upstream that could no longer be reached.
func (p *pipe) unreached(err error) *reply {
	p.g.o.Logger.WarnContext(p.r.Context(), "upstream failed", "upstream", p.Upstream.Name, "error",
		upstream.PlainError(err))
	h := http.Header{"Content-Type": {"application/json"}, headerError: {string(precis.CodeUpstream)}}
	return &reply{
		res:  &http.Response{StatusCode: http.StatusBadGateway, Header: h, Body: http.NoBody},
		head: errorBody(p.Dialect, "api_error", p.Upstream.Name+": "+upstream.PlainError(err)), whole: true,
		events: &wire.Events{},
	}
}

// next adds up the usage of an answer before the next one is requested.
func (r *answerer) next(a *wire.Response) {
	if r.times++; r.times == 1 {
		r.input = a.Input
	}
	r.earlierUsage.Add(a.Usage)
}

// sum adds the usage of all responses up. The input tokens stay those counted for the first
// response, because they measure the view.
func (r *answerer) sum(last *wire.Response) {
	if r.times == 0 {
		return
	}
	if !r.summed {
		r.earlierUsage.Add(last.Usage)
		r.summed = true
	}
	last.Usage, last.Input = r.earlierUsage, r.input
}

// recallTokens returns how many tokens one recall answer may return.
func (p *pipe) recallTokens() int {
	n := p.g.o.RecallTokens
	if w := p.p.result.Report.Decision.Window.Tokens; w > 0 {
		n = min(n, w/4)
	}
	return n
}

// earlier loads the transcripts that the conversation had before its client cleared results.
func (p *placed) earlier() (out []*precis.Transcript) {
	for _, head := range p.conv.Info().Earlier {
		// on error, the shorter form remains
		t, _ := p.g.conversations.Earlier(p.r.Context(), p.owner, p.conv.ID(), head)
		if t != nil {
			out = append(out, t)
		}
	}
	return out
}
