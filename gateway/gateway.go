package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"net/http/httputil"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway/accounts"
	"github.com/precis-dev/precis/gateway/admission"
	"github.com/precis-dev/precis/gateway/bridge"
	"github.com/precis-dev/precis/gateway/hold"
	"github.com/precis-dev/precis/gateway/homes"
	"github.com/precis-dev/precis/gateway/inprocess"
	"github.com/precis-dev/precis/gateway/intent"
	"github.com/precis-dev/precis/gateway/profiles"
	"github.com/precis-dev/precis/gateway/registry"
	"github.com/precis-dev/precis/gateway/unmanaged"
	"github.com/precis-dev/precis/gateway/upstream"
	"github.com/precis-dev/precis/gateway/windows"
	"github.com/precis-dev/precis/store"
)

// Gateway is an [http.Handler]. Make one with [New], end it with
// [Gateway.Close]. It is safe for concurrent use.
type Gateway struct {
	o             Options
	upstreams     upstream.List // of o
	conversations *registry.Registry
	proxy         *httputil.ReverseProxy
	windows       *windows.Book
	accounts      *accounts.Accounts
	// freeModels are models, by upstream and name, at upstreams that do not know the control for
	// bound reasoning.
	freeModels sync.Map
	gate       *admission.Limiter
	processors admission.Processors // for reductions and digests without a model
	profiles   *profiles.Set
	admins     atomic.Pointer[map[string]bool]
	calls      inprocess.Calls // made through RoundTripper
	bridges    *bridge.Table
	holds      *hold.Holds
	homes      *homes.Homes

	ctx     context.Context // of work that outlives requests
	cancel  context.CancelFunc
	work    sync.WaitGroup
	closing atomic.Bool
}

// New returns a gateway. The error is [precis.CodeInvalid] and names the option at fault.
func New(o Options) (*Gateway, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	if o.Replica == "" {
		var b [8]byte
		_, _ = rand.Read(b[:]) // never fails
		o.Replica = hex.EncodeToString(b[:])
	}
	g := &Gateway{o: o, upstreams: o.Upstreams, gate: admission.New(admission.Limits{
		Requests: o.Limits.Concurrency, Body: o.Limits.Body, Memory: o.Limits.Memory})}
	g.processors = admission.NewProcessors()
	g.profiles = profiles.New(o.Manager, o.Profiles)
	g.accounts = accounts.New(accounts.Options{
		MAC: o.Auth.MAC, Main: g.upstreams.DefaultNames(), Transport: o.Transport, Store: o.Store,
		Patience: o.Patience,
		Now:      o.Now, Work: g.background, Upstreams: o.Upstreams,
	})
	keep, _ := o.Store.(store.Windows)
	g.windows = windows.New(windows.Options{Table: o.Window, Profile: o.ProfileWindow,
		Background: g.background, Now: o.Now, Store: keep, Shared: o.Shared,
		Patience: cmp.Or(o.Patience, 3*time.Second), Logger: o.Logger})
	g.SetAdmins(o.Auth.Admins)
	g.ctx, g.cancel = context.WithCancel(context.Background())
	g.conversations = registry.New(registry.Options{Store: o.Store, Key: o.Auth.IDKey(), Shared: o.Shared,
		Replica: o.Replica, Patience: o.Patience, Bytes: o.Memory, Logger: o.Logger, Now: o.Now})
	g.bridges = bridge.NewTable(o.Now)
	g.holds = hold.New(o.Now, o.OnHold)
	g.homes = &homes.Homes{Conversations: g.conversations, Store: o.Store, Shared: o.Shared,
		Replica: o.Replica, Profiles: g.profiles, Windows: g.windows, Upstreams: g.upstreams, Holds: g.holds,
		OutputLimit: o.outputLimit, Logger: o.Logger}
	g.proxy = &httputil.ReverseProxy{
		Rewrite: g.rewrite, Transport: o.Transport, FlushInterval: -1, ErrorHandler: g.proxyFailed,
	}
	_ = g.windows.Sync(context.Background()) // a failed read is retried later
	g.background(func(context.Context) {
		// loads the token tables, so that the first request does not wait for them
		o.Manager.NewMeter().Message(precis.NewText(precis.RoleUser, "a word"))
	})
	return g, nil
}

// Profiles returns the managers that requests can select, with their settings. Changes of them apply
// to new requests; requests in progress keep their manager.
func (g *Gateway) Profiles() *profiles.Set { return g.profiles }

// AllOwners, as an owner, selects all owners.
const AllOwners = conversation.AllOwners

// Home returns the conversations of an owner, or of [AllOwners], in memory and in the store. A
// conversation is locked while it is edited, as by requests; an edit is in force for the client's
// next request. Conversations of other owners are reported as not found.
func (g *Gateway) Home(owner string) conversation.Home { return g.homes.Of(owner) }

// Homes returns the homes of all owners.
func (g *Gateway) Homes() *homes.Homes { return g.homes }

// Windows returns what is known about the context windows of models.
func (g *Gateway) Windows() *windows.Book { return g.windows }

// Ready reports whether there is room for another request.
func (g *Gateway) Ready() bool { return !g.gate.Full() }

// CheckStore returns an error when the store does not keep new data, because it fails or was
// replaced since it was opened; nil when it does.
func (g *Gateway) CheckStore(ctx context.Context) error { return g.conversations.Check(ctx) }

// Active returns the number of requests under way.
func (g *Gateway) Active() int { return g.gate.Active() }

// Close waits, at most until ctx ends, for work that outlives requests, such as preparing a
// summary, and until all data is in the store. HTTP requests must have ended, see
// [http.Server.Shutdown]; Close ends the requests of [Gateway.RoundTripper].
func (g *Gateway) Close(ctx context.Context) error {
	g.closing.Store(true)
	g.windows.StopAsking()
	g.ReleaseHolds()
	g.calls.End()
	done := make(chan struct{})
	go func() { g.work.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		g.cancel()
		<-done
	}
	_ = g.windows.Sync(ctx) // errors are logged
	err := g.conversations.Close(ctx)
	g.cancel()
	return err
}

// background runs f until f or the gateway ends. It returns false without running f when the
// gateway is closing.
func (g *Gateway) background(f func(ctx context.Context)) bool {
	if g.closing.Load() {
		return false
	}
	g.work.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				g.o.Logger.Error("panic", "where", string(debug.Stack()))
			}
		}()
		f(g.ctx)
	})
	return true
}

// ServeHTTP forwards a request.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	if g.o.Local {
		g.refuse(w, nil, http.StatusNotFound, "not_found_error", errLocal)
		return
	}
	if len(g.o.Upstreams) == 0 {
		g.refuse(w, nil, http.StatusBadGateway, "api_error", errNoUpstream)
		return
	}
	rt := g.upstreams.Route(r)
	path := rt.Path
	if rt.Work == intent.Pass {
		path = "" // it belongs to no conversation, so the upstream is not asked for its owner
	}
	owner, err := g.owner(r, rt.Upstream, path)
	out := admission.NewWriter(w)
	defer out.Close()
	x := &exchange{Route: rt, g: g, r: r, owner: owner, conversations: g.conversations,
		out: responder{w: out, dialect: rt.Dialect, start: start}}
	switch {
	case err != nil:
		x.deny(http.StatusUnauthorized, "authentication_error", unmanaged.Denied, err)
	case upstream.HasDotSegments(r.URL):
		x.deny(http.StatusBadRequest, "invalid_request_error", unmanaged.Denied, errDots)
	case upgrades(r): // clients that prefer a WebSocket fall back at once on this status
		x.deny(http.StatusUpgradeRequired, "invalid_request_error", unmanaged.Socket, errNoWebSocket)
	default:
		x.serve()
	}
}

// deny answers a request with an error, without placing it.
func (x *exchange) deny(status int, kind string, why unmanaged.Reason, err error) {
	defer x.report()
	x.err, x.reason = err, why
	x.out.note(why)
	x.out.failWith(status, precis.CodeOf(err), errorBody(x.Dialect, kind, err.Error()))
}

// owner resolves the owner of a request: by its gateway key, else by its credential at the
// upstream. Up is nil for a request without an upstream.
func (g *Gateway) owner(r *http.Request, up *Upstream, path string) (string, error) {
	if owner, err := g.o.Auth.Owner(r); owner != "" || err != nil {
		return owner, err
	}
	return g.accounts.Owner(r, up, path)
}

func upgrades(r *http.Request) bool {
	return strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// rewrite makes the upstream request for a request that is passed through.
func (g *Gateway) rewrite(p *httputil.ProxyRequest) {
	rt := g.upstreams.Route(p.In)
	p.Out.URL = rt.URL(p.In.URL.RawQuery)
	p.Out.Host = ""
	upstream.StripHops(p.Out.Header) // an upgrade would open a tunnel that escapes admission
	g.o.Auth.Strip(p.Out.Header)
	upstream.StripOwn(p.Out.Header)
}

func (g *Gateway) proxyFailed(w http.ResponseWriter, r *http.Request, err error) {
	g.o.Logger.WarnContext(r.Context(), "upstream failed", "path", r.URL.Path, "error",
		upstream.PlainError(err))
	out := error(errUpstream)
	if hint := upstream.HintOf(err); hint != "" {
		out = precis.Errorf(precis.CodeUpstream, "forward request", "the upstream cannot be reached; %s",
			hint)
	}
	g.refuse(w, g.upstreams.Route(r).Dialect, http.StatusBadGateway, "api_error", out)
}
