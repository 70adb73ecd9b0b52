package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"precis"
	"precis/cmd/internal/config"
	"precis/conversation"
	"precis/gateway"
	"precis/gateway/control"
	"precis/mcpserver"
)

// Listen opens the configured address. One that others reach needs keys, or the
// word that none are wanted.
func Listen(c config.Gateway) (net.Listener, error) {
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return nil, precis.Errorf(precis.CodeInvalid, "listen", "gateway.listen is %q, want HOST:PORT", c.Listen)
	}
	if !loopback(host) && c.KeysFile == "" && !c.Public {
		return nil, &precis.Error{Code: precis.CodeInvalid, Op: "listen", Err: fmt.Errorf("%s can be reached by others, and no keys are asked for", c.Listen),
			Hint: "set gateway.keys_file, or gateway.public when the network is trusted"}
	}
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return nil, precis.Errorf(precis.CodeInternal, "listen", "%w", err)
	}
	return l, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// SoftMemoryLimit is the memory beyond which the Go runtime should rather collect
// garbage than ask for more: that of the conversations, with a quarter for what they
// are worked on with, and that of the requests under way.
func SoftMemoryLimit(c config.Gateway) int64 {
	const mb = 1 << 20
	return int64(c.MemoryMB)*mb*5/4 + int64(c.RequestsMB)*mb
}

// Serve answers requests until ctx ends. Then it says that it is not ready any
// more, lets requests under way finish for a while, and returns.
func (s *Service) Serve(ctx context.Context, l net.Listener) error {
	c := s.config().Gateway
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 256 << 10,
		ErrorLog: slog.NewLogLogger(s.p.Logger.Handler(), slog.LevelDebug)}
	ended := make(chan error, 1)
	go func() {
		if c.CertFile != "" {
			ended <- server.ServeTLS(l, c.CertFile, c.KeyFile)
		} else {
			ended <- server.Serve(l)
		}
	}()
	jobs := s.startJobs(ctx)
	defer jobs()
	select {
	case err := <-ended:
		return precis.Errorf(precis.CodeInternal, "serve", "%w", err)
	case <-ctx.Done():
	}
	s.draining.Store(true)
	s.Gateway.LetGo()
	if c.DrainDelay > 0 { // who asks for readiness learns of it before the address is closed
		time.Sleep(time.Duration(c.DrainDelay) * time.Second)
	}
	s.events.Close()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Duration(c.Drain)*time.Second)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		_ = server.Close() // they were given their time
	}
	return nil
}

// noSignIn are the paths where a client that lacks a key looks for a way to sign in. The
// gateway has none, and an upstream's must not be taken for it.
var noSignIn = []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"}

// Handler serves the gateway and what stands next to it: /healthz, /readyz,
// /metrics, the dashboard at /precis/, the control API below /precis/api/, and the MCP
// server at /precis/mcp.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", s.ready)
	if s.p.Operations {
		mux.Handle("GET /metrics", s.overseer(s.metrics.Handler()))
		api := control.New(control.Options{Gateway: s.Gateway, Events: s.events, Started: s.started, Save: s.saveSettings})
		mux.Handle("/precis/api/", s.insider(s.changing(checked(api))))
		mux.Handle("/precis/mcp", s.insider(checked(mcpserver.Handler(s.seen))))
		for _, path := range noSignIn {
			mux.Handle(path, http.NotFoundHandler())
			mux.Handle(path+"/precis/mcp", http.NotFoundHandler())
		}
	}
	if s.pages != nil {
		mux.Handle("/precis/", s.pages)
	} else {
		mux.Handle("/precis/", http.NotFoundHandler()) // what is ours is never asked of an upstream
	}
	mux.Handle("/", s.traces.Handler(s.Gateway))
	return s.guard(mux)
}

// seen returns what an agent may see through the MCP server, and whether it may change
// it: the conversations that the control API would show it.
func (s *Service) seen(r *http.Request) (mcpserver.Options, error) {
	owner, all, err := s.Gateway.Caller(r)
	if err != nil {
		return mcpserver.Options{}, err
	}
	if owner == gateway.AllOwners && !all {
		owner = ""
	}
	return mcpserver.Options{
		Home: s.Gateway.Home(owner), Edits: s.config().Gateway.MCPEdits && s.mayChange(r), Version: s.p.Version,
		Edited: func(ctx context.Context, id string, edits []conversation.EditInfo) { s.edited(ctx, owner, id, edits) },
	}, nil
}

// ready reports whether requests are welcome: there is room for more, the store
// answers and keeps what it is given, and the gateway is not about to end.
func (s *Service) ready(w http.ResponseWriter, r *http.Request) {
	if s.draining.Load() {
		http.Error(w, "draining", http.StatusServiceUnavailable)
		return
	}
	if !s.Gateway.Ready() {
		http.Error(w, "too many requests are under way", http.StatusServiceUnavailable)
		return
	}
	if err := s.probe(r.Context()); err != nil {
		s.p.Logger.WarnContext(r.Context(), "the store does not answer", "error", err)
		http.Error(w, "the store does not answer", http.StatusServiceUnavailable)
		return
	}
	if err := s.Gateway.CheckStore(r.Context()); err != nil { // is logged when it begins
		http.Error(w, "the store does not keep what is new: "+reason(err), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ready")
}

// reason returns what is wrong with a store without saying where it is: who asks for
// readiness need not be known.
func reason(err error) string {
	var own *precis.Error
	if !errors.As(err, &own) {
		return "it fails"
	}
	if own.Hint != "" {
		return own.Hint
	}
	return own.Op
}

// probe asks the store for something small.
func (s *Service) probe(ctx context.Context) error {
	st, ok := s.store.(precis.CalibrationStore)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	_, err := st.LoadCalibrations(ctx)
	return err
}
