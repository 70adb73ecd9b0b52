package gateway

import (
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

	"precis"
	"precis/gateway/lineage"
)

// Gateway is an [http.Handler]. Make one with [New], end it with
// [Gateway.Close]. It is safe for concurrent use.
type Gateway struct {
	o       Options
	table   *lineage.Table
	proxy   *httputil.ReverseProxy
	windows windows
	// freeModels are models, by upstream and name, whose upstream does not know the
	// control for bound reasoning.
	freeModels sync.Map
	saver      *saver
	slots      chan struct{}
	policy     atomic.Pointer[policy]

	ctx     context.Context // of work that outlives requests
	cancel  context.CancelFunc
	work    sync.WaitGroup
	closing atomic.Bool
	active  atomic.Int64
}

// policy is what can be changed at run time.
type policy struct {
	manager  *precis.Manager
	profiles map[string]*precis.Manager
}

// New returns a gateway. The error is [precis.CodeInvalid] and names the option
// at fault.
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
	g := &Gateway{o: o, slots: make(chan struct{}, o.Limits.Concurrency)}
	g.policy.Store(&policy{o.Manager, o.Profiles})
	g.ctx, g.cancel = context.WithCancel(context.Background())
	g.table = lineage.New(lineage.Options{Bytes: o.Memory, Recall: g.recall, Adopt: g.adopt})
	g.proxy = &httputil.ReverseProxy{
		Rewrite: g.rewrite, Transport: o.Transport, FlushInterval: -1, ErrorHandler: g.proxyFailed,
	}
	g.saver = newSaver(g)
	return g, nil
}

// SetManager replaces the manager and the profiles from the next request on;
// those under way keep theirs.
func (g *Gateway) SetManager(m *precis.Manager, profiles map[string]*precis.Manager) {
	g.policy.Store(&policy{m, profiles})
}

// Active returns the number of requests under way.
func (g *Gateway) Active() int { return int(g.active.Load()) }

// Close waits for work that outlives requests, such as preparing a summary, but
// not longer than ctx lasts, and until everything seen is in the store. Requests
// must have ended, see [http.Server.Shutdown].
func (g *Gateway) Close(ctx context.Context) error {
	g.closing.Store(true)
	done := make(chan struct{})
	go func() { g.work.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		g.cancel()
		<-done
	}
	err := g.saver.close(ctx)
	g.cancel()
	return err
}

// background runs f until it ends or the gateway does.
func (g *Gateway) background(f func(ctx context.Context)) {
	if g.closing.Load() {
		return
	}
	g.work.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				g.o.Logger.Error("panic", "where", string(debug.Stack()))
			}
		}()
		f(g.ctx)
	})
}

// ServeHTTP forwards a request.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	g.active.Add(1)
	defer g.active.Add(-1)
	rt := g.route(r)
	owner, err := g.o.Auth.owner(r)
	if err != nil {
		g.refuse(w, rt, http.StatusUnauthorized, "authentication_error", err)
		return
	}
	if upgrades(r) {
		// Clients that would rather use a WebSocket fall back at once on this.
		g.refuse(w, rt, http.StatusUpgradeRequired, "invalid_request_error", errNoWebSocket)
		return
	}
	select {
	case g.slots <- struct{}{}:
		defer func() { <-g.slots }()
	default:
		w.Header().Set("Retry-After", "1")
		g.refuse(w, rt, http.StatusServiceUnavailable, "overloaded_error", errBusy)
		return
	}
	t := &turn{g: g, w: w, r: r, route: rt, owner: owner, start: start}
	t.serve()
}

func upgrades(r *http.Request) bool {
	return strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// rewrite makes the upstream request of what is passed through.
func (g *Gateway) rewrite(p *httputil.ProxyRequest) {
	rt := g.route(p.In)
	if rt.escaped {
		p.Out.URL = rt.upstream.joinEscaped(rt.path, p.In.URL.RawQuery)
	} else {
		p.Out.URL = rt.upstream.join(rt.path, p.In.URL.RawQuery)
	}
	p.Out.Host = ""
	g.o.Auth.strip(p.Out.Header)
	stripOwn(p.Out.Header)
}

func (g *Gateway) proxyFailed(w http.ResponseWriter, r *http.Request, err error) {
	g.o.Logger.WarnContext(r.Context(), "upstream failed", "path", r.URL.Path, "error", plainError(err))
	g.refuse(w, g.route(r), http.StatusBadGateway, "api_error", errUpstream)
}

// manager returns the manager of a request.
func (g *Gateway) manager(r *http.Request) (*precis.Manager, error) {
	p := g.policy.Load()
	name := r.Header.Get(headerProfile)
	if name == "" {
		return p.manager, nil
	}
	if m, ok := p.profiles[name]; ok {
		return m, nil
	}
	return nil, precis.Errorf(precis.CodeInvalid, "choose profile", "there is no profile %.60q", name)
}

// store returns the part of the store that belongs to an owner; nil when there
// is no store, or one that cannot keep owners apart.
func (g *Gateway) store(owner string) precis.Store {
	if owner == "" {
		return g.o.Store
	}
	if s, ok := g.o.Store.(precis.Scoper); ok {
		return s.Scope(owner)
	}
	return nil
}

// Lines returns the conversations in memory, the newest first.
func (g *Gateway) Lines() []*lineage.Line { return g.table.Lines() }
