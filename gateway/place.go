package gateway

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/bridge"
	"github.com/precis-dev/precis/gateway/intent"
	"github.com/precis-dev/precis/gateway/lineage"
	"github.com/precis-dev/precis/gateway/polyfill"
	"github.com/precis-dev/precis/gateway/registry"
	"github.com/precis-dev/precis/gateway/unmanaged"
	"github.com/precis-dev/precis/gateway/windows"
	"github.com/precis-dev/precis/internal/content"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/responses"
)

// placed is a request with the conversation that it continues.
type placed struct {
	*exchange
	*request
	found   *registry.Found
	conv    *registry.Conversation
	profile string
	arm     string          // experiment arm that selected the manager; "": no experiment
	manager *policy.Manager // of the profile
	poly    *polyfill.Request
	asked   *bridge.Answer // the summary that the request asks for; nil: it asks for none
	// unlisted: the client sent a text in place of a list of messages. The body is forwarded
	// unchanged unless the view differs.
	unlisted bool
}

// place finds the conversation of a request. The caller answers with its error.
func (x *exchange) place(q *request) (*placed, error) {
	p := &placed{exchange: x, request: q, profile: x.r.Header.Get(headerProfile)}
	var err error
	if p.manager, err = x.g.profiles.Manager(p.profile); err != nil {
		return nil, &precis.Error{Code: precis.CodeInvalid, Op: "read " + headerProfile, Err: err}
	}
	found, err := x.find(q.body)
	if found != nil && x.Dialect.Name() == responses.Format && !found.Body.HasList() {
		if list := listed(found.Body.Get(x.Dialect.List())); list != nil {
			d := found.Body.Draft()
			d.Set(x.Dialect.List(), list)
			p.unlisted = true
			found, err = x.find(d.Bytes())
		}
	}
	if found == nil {
		return nil, err
	}
	if x.intent.Thread {
		return nil, &precis.Error{Code: precis.CodeInvalid, Op: "read request", Err: &unmanaged.ThreadError{}}
	}
	if err != nil {
		x.g.o.Logger.WarnContext(x.r.Context(), "the store did not answer", "error", err)
	}
	p.found, p.conv = found, found.Line.State
	x.kind = string(found.Kind)
	if x.assembly == nil && x.direct == nil && !x.g.accounts.IsProven(x.r, x.Upstream) {
		x.doubted = true
		p.conv.Doubt()
	}
	if p.profile == "" && found.Line.ID != "" && x.conversations == x.g.conversations {
		p.arm = x.g.armOf(x.r.Context(), p.conv)
		if m, err := x.g.profiles.Manager(p.arm); err == nil { // on error, the experiment has ended
			p.profile, p.manager = p.arm, m
		}
	}
	if p.poly, err = p.polyfills(); err == nil {
		p.asked = p.summarizes()
	}
	return p, err
}

// armOf returns the experiment arm of a conversation, "" for none: the recorded arm or, for a new
// conversation, the arm of the one it branched from, else a newly assigned one. So the arm of a
// conversation never changes.
func (g *Gateway) armOf(ctx context.Context, c *registry.Conversation) string {
	info := c.Info()
	if info.Arm != "" || info.Requests > 0 || g.o.Assign == nil {
		return info.Arm
	}
	if info.Branched != "" {
		if from, err := g.conversations.Open(ctx, c.Owner(), info.Branched); err == nil {
			return from.Info().Arm
		}
	}
	return g.o.Assign(c.ID())
}

// find finds the conversation of a body.
func (x *exchange) find(body []byte) (*registry.Found, error) {
	r := lineage.Request{Owner: x.owner, Dialect: x.Dialect, Body: body}
	if a := x.assembly; a != nil {
		r.Scope = a.scope // each list is a conversation of its own
	}
	r.Passes = func(b *wire.Body, prompt wire.Prompt, msgs []precis.Message) lineage.Passes {
		in := intent.Of(intent.Request{Work: x.Work, Dialect: x.Dialect, Body: b, System: prompt.System,
			Messages: msgs})
		x.intent = in
		switch {
		case x.assembly != nil:
			return lineage.PassNever
		case !in.Turn:
			return lineage.PassAlways
		case in.Summary:
			return lineage.PassKnown
		}
		return lineage.PassNever
	}
	found, err := x.conversations.Place(x.r.Context(), r)
	if found != nil && found.Prompt.Model == "" {
		found.Prompt.Model = x.Deployment
	}
	return found, err
}

// listed turns a text input of the Responses API into the equivalent list of messages; nil when the
// input is not a text.
func listed(input []byte) []byte {
	if jsonspan.Kind(input) != '"' {
		return nil
	}
	return append(append([]byte(`[{"role":"user","content":`), input...), `}]`...)
}

// mayOverflow reports whether a request that is no turn may be too long: a text has at most one
// token per two bytes.
func (p *placed) mayOverflow() bool {
	return p.Work == intent.Turn && len(p.body) > 2*p.window(p.r.Context()).Window().Tokens
}

// passing returns why the request is passed through; "" when it is managed.
func (p *placed) passing() string {
	f := p.found
	switch {
	case p.intent.Stateful:
		return passStateful
	case p.intent.Empty:
		return passEmpty
	case f.Line.ID == "" || f.Kind == lineage.First && p.Work != intent.Turn:
		return passSide
	}
	return ""
}

// remembered reports whether the request is a turn of its conversation.
func (p *placed) remembered() bool {
	return p.Work == intent.Turn && p.conv.Current()
}

// update updates the conversation and its record from the request. The conversation is locked.
func (p *placed) update() {
	prompt, conv := p.found.Prompt, p.conv.Conversation()
	conv.Model, conv.System, conv.Tools = prompt.Model, prompt.System, prompt.Tools
	client, hints, now := clientOf(p.r.Header), p.hints(), p.g.o.Now()
	title := p.conv.Info().Title
	if title == "" {
		title = content.FirstWords(precis.SpeechOf(p.found.Messages))
	}
	p.conv.SetInfo(func(rec *store.Record) {
		rec.Model, rec.Client, rec.Title = prompt.Model, client, title
		rec.Arm, rec.Profile = cmp.Or(p.arm, rec.Arm), ""
		if p.profile != rec.Arm {
			rec.Profile = p.profile
		}
		rec.Head, rec.Messages, rec.Updated = p.found.Node, p.found.Len, now
		if len(hints) > 0 {
			rec.Hints = hints
		}
	})
}

// keepAlive sends keep-alive bytes to the client of a streaming request while it waits.
func (p *placed) keepAlive() (stop func()) {
	if !p.found.Prompt.Stream || p.Work != intent.Turn || p.assembly != nil || p.direct != nil {
		// no client connection waits
		return func() {}
	}
	return p.out.keepAlive(p.r.Context().Done(), p.g.o.KeepAlive, p.found.Line.ID)
}

// windowKey returns the key of the request's window among the learned ones.
func (p *placed) windowKey() windows.Key {
	return windows.Key{Upstream: p.Upstream.Name, Model: p.found.Prompt.Model, Owner: p.owner,
		Betas: strings.Join(p.r.Header.Values(headerBeta), ",")}
}

// polyfills reads the context management that the request asks for.
func (p *placed) polyfills() (*polyfill.Request, error) {
	native := p.g.o.Native
	switch {
	case p.assembly != nil:
		native = Native{ContextManagement: true, Compact: true} // the request goes to its API directly
	case p.Upstream.Native != nil:
		native = *p.Upstream.Native
	}
	return polyfill.NewRequest(polyfill.Input{
		Dialect: p.Dialect.Name(), Native: native, Body: p.found.Body, Prompt: p.found.Prompt,
		Messages: p.found.Messages, Node: p.found.Node,
		Intent: p.intent,
	})
}

// hints returns the client's names for the conversation.
func (p *placed) hints() map[string]string {
	if a := p.assembly; a == nil || a.scope == "" {
		return registry.HintsOf(p.r.Header)
	}
	return map[string]string{registry.ScopeHint: p.assembly.scope}
}

// clientOf returns the name of the client program from its User-Agent.
func clientOf(h http.Header) string {
	return content.FirstLine(h.Get("User-Agent"), 60)
}

// Requests that are no turn of a conversation are passed through: titles, probes of server
// features, a client's own compaction. They teach the gateway no window and are not condensed.

const (
	passSide     = "side"
	passStateful = "stateful"
	passEmpty    = "empty"
	passMany     = "messages" // more than any conversation may have
)
