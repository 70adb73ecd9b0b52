package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/gateway/bridge"
	"github.com/precis-dev/precis/gateway/intent"
	"github.com/precis-dev/precis/gateway/lineage"
	"github.com/precis-dev/precis/gateway/recall"
	"github.com/precis-dev/precis/internal/content"
	"github.com/precis-dev/precis/store"
)

// Clients that condense by themselves begin a new conversation with their own summary. Package
// bridge recognizes such a summary. This file links the two conversations, adds the facts that the
// summary lacks, and answers the request for the summary if [Bridge] demands it.

// Bridge selects the action when a client condenses a conversation by itself.
type Bridge string

// The actions.
const (
	// add to the next conversation the facts that the client's summary lacks; the default
	BridgeMissing Bridge = "missing"
	// the same, and answer the request for a summary with a digest, without a model
	BridgeDigest Bridge = "digest"
	BridgeOff    Bridge = "off" // do not link the conversations
)

const (
	stillNew  = 12   // messages in a conversation that has just begun, at most
	mostLack  = 5000 // tokens of added facts, at most
	lackShare = 10   // divisor: added facts take at most 1/10 of the window
)

// summarizes identifies the conversation that the request wants summarized; nil when the request
// does not ask for a summary.
func (p *placed) summarizes() *bridge.Answer {
	if p.g.o.Bridge == BridgeOff || p.assembly != nil || p.Work != intent.Turn || p.found.Prompt.Structured {
		return nil
	}
	a := &bridge.Answer{Owner: p.owner, Conversation: p.found.Line.ID}
	switch {
	case a.Conversation != "" && p.intent.Summary:
		if p.found.Kind == lineage.First {
			if _, goesOn := p.g.bridges.Find(p.owner, p.found.Messages); goesOn {
				return nil // a summary that mentions the request for it
			}
		}
		if a.Messages = p.found.Len - 1; a.Messages == 0 {
			return nil // no message precedes the request
		}
		if from := p.found.From; from != nil && p.found.Known != a.Messages {
			// the request omits some of its messages
			a.Messages = from.State.Snapshot().Conversation.Transcript.Len()
		}
	case p.found.Kind == lineage.First && p.intent.SummaryOfText:
		if !p.madeOf(a) {
			return nil
		}
	default:
		return nil
	}
	p.answer.Keep = bridge.MaxText
	return a
}

// madeOf finds the conversation that the text in the request's last message was made from.
func (p *placed) madeOf(a *bridge.Answer) (found bool) {
	text := content.Words(p.found.Messages[len(p.found.Messages)-1].Content)
	leave, err := p.g.processors.Enter(p.r.Context())
	if err != nil {
		return false
	}
	defer leave()
	a.Conversation, a.Messages, found = bridge.FindOrigin(p.r.Context(), p.conversations.All(p.owner), text)
	return found
}

// noteSummary records the summary that a client received.
func (x *exchange) noteSummary() {
	p := x.placed
	if p == nil || p.asked == nil || x.answer.Error != nil || len(x.answer.Text) == 0 {
		return
	}
	a := *p.asked
	a.Text = string(x.answer.Text)
	x.g.bridges.Keep(a)
}

// bridge links a new conversation to the one that its first message summarizes, and adds the facts
// that the summary lacks. On failure the request continues without them, and the next one retries.
func (j *planner) bridge(ctx context.Context) {
	if err := j.link(ctx); err != nil && ctx.Err() == nil {
		j.g.o.Logger.WarnContext(ctx, "what the client's own summary lacks is not given back",
			"conversation", j.conv.ID(), "code", string(precis.CodeOf(err)), "error", err)
	}
}

func (j *planner) link(ctx context.Context) error {
	f := j.found
	if j.g.o.Bridge == BridgeOff || !j.recordsEdits || j.assembly != nil {
		return nil
	}
	next := bridge.NextWindow(j.work.System)
	j.g.bridges.Keep(bridge.Answer{Owner: j.owner, Conversation: j.conv.ID(), Text: next})
	if f.Kind == lineage.Extended && f.Len > stillNew || j.wasLinked() {
		return nil
	}
	said := j.work.Transcript.Messages() // not the request's own: they may differ in empty blocks
	at, ok := j.g.bridges.Find(j.owner, said)
	window := !ok && next != "" && bridge.BeginsWithText(said) // has no summary; the system prompt links it
	if window {
		at, ok = j.g.bridges.Find(j.owner, []precis.Message{j.work.System})
		at.Message, at.Block = 0, 0
	}
	if !ok || at.Conversation == j.conv.ID() ||
		f.Kind != lineage.Repeated && f.Kind != lineage.Extended && f.Known > at.Message+1 {
		return nil // the messages include the summarized ones
	}
	before := bridge.Chain(ctx, j.g.conversations, j.owner, at.Conversation, at.Messages)
	if len(before) == 0 {
		return nil // the store may answer at the next request
	}
	lack, err := j.findLack(ctx, before, at, window)
	if err != nil {
		return err
	}
	if lack.Text != "" {
		e := bridge.Edit(j.work.Transcript, at, lack)
		if err := e.Identify(j.work.Transcript); err != nil {
			return err
		}
		if window {
			e.Report.Reason = "a digest of " + at.Conversation +
				", of which a new window of the client's holds nothing"
		}
		e.Run, e.Time, e.Report.Trigger = e.ID, j.g.o.Now(), string(precis.TriggeredAutomatic)
		e.Report.TokensBefore = j.req.Meter.View(said[at.Message : at.Message+1])
		e.Report.TokensAfter = j.req.Meter.View(e.Replace[0].With)
		if err := j.conv.Record(ctx, j.mgr, e); err != nil {
			return err
		}
		j.conv.Written.Forget()
		j.action = actionReduced
	}
	arm := ""
	if from, err := j.g.conversations.Open(ctx, j.owner, at.Conversation); err == nil {
		arm = from.Info().Arm // from the next request on
	}
	j.conv.SetInfo(func(rec *store.Record) { rec.Continues, rec.Summary, rec.Arm = at.Conversation, at.Message, arm })
	return nil
}

// wasLinked reports whether the conversation was linked before. A branch may share the summary with
// the conversation it left but lack the edit, if the edit was made after the branch point.
func (j *planner) wasLinked() bool {
	if j.conv.Info().Continues == "" {
		return false
	}
	return j.found.Kind != lineage.Branched ||
		slices.ContainsFunc(j.work.Edits,
			func(e precis.Edit) bool { return e.Report.Rung == bridge.RungName })
}

// findLack finds what the summary lacks, reading as many earlier conversations at once as there are
// processors.
func (j *planner) findLack(ctx context.Context, before []bridge.Part, at bridge.Place,
	window bool) (bridge.MissingContent, error) {
	room := min(mostLack, j.window(ctx).Window().Tokens/lackShare)
	stop := j.keepAlive()
	defer stop()
	leave, err := j.g.processors.Enter(ctx)
	if err != nil {
		return bridge.MissingContent{}, err
	}
	defer leave()
	if window {
		text, err := bridge.Digest(ctx, before, room)
		return bridge.MissingContent{Text: "\n\n" + text}, err
	}
	return bridge.Missing(before, j.work.Transcript.Messages(), at, room), nil
}

// predecessors loads the conversations that this one continues.
func (p *placed) predecessors() (out []recall.Linked) {
	before := bridge.Chain(p.r.Context(), p.g.conversations, p.owner, p.conv.Info().Continues, 0)
	for _, part := range before {
		out = append(out, recall.Linked{Prefix: bridge.HandlePrefix(part.ID),
			Transcript: precis.NewTranscript(part.Messages...)})
	}
	return out
}

// answerSummary answers a request for a summary with a digest. It returns false when there are no
// messages to summarize or a digest is not allowed.
func (x *exchange) answerSummary(p *plan) bool {
	f := p.found
	if x.g.o.Bridge != BridgeDigest || p.asked == nil || !p.intent.Program ||
		f.Prompt.MaxOutput > 0 && f.Prompt.MaxOutput < bridge.MinDigestTokens {
		return false
	}
	parts := bridge.Chain(x.r.Context(), x.g.conversations, x.owner, p.asked.Conversation, p.asked.Messages)
	if len(parts) == 0 {
		return false
	}
	leave, err := x.g.processors.Enter(x.r.Context())
	if err != nil {
		return false
	}
	tokens := max(min(digest.DefaultTokens, p.window(x.r.Context()).Window().Tokens/lackShare),
		bridge.MinDigestTokens)
	if f.Prompt.MaxOutput > 0 {
		tokens = min(tokens, f.Prompt.MaxOutput)
	}
	text, err := bridge.Digest(x.r.Context(), parts, tokens)
	leave()
	if err != nil || text == "" {
		return false
	}
	body := p.found.Body
	sum := sha256.Sum256(p.body)
	reply := bridge.Reply{
		Dialect: x.Dialect.Name(), ID: hex.EncodeToString(sum[:12]), Model: p.found.Prompt.Model,
		Created: x.g.o.Now().Unix(),
		Text:    bridge.WrapSummary(text, body.Item(len(body.Items())-1)),
	}
	x.answer.Said(reply.Text)
	x.noteSummary()
	x.answerWith(reply.Body, reply.Events, p.found.Prompt.Stream)
	return true
}

// answerWith answers without the upstream.
func (x *exchange) answerWith(whole, events func() []byte, stream bool) {
	x.action = actionAnswer
	x.overhead = x.timeBeforeForward()
	kind, body := "application/json", whole
	if stream {
		kind, body = "text/event-stream; charset=utf-8", events
		x.out.w.Header().Set("Cache-Control", "no-cache")
	}
	x.describe(x.out.w.Header())
	x.out.mu.Lock()
	defer x.out.mu.Unlock()
	x.out.whole(http.StatusOK, kind, body())
}
