package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/control"
	"github.com/precis-dev/precis/mcpserver"
)

// Listen opens the configured address. An address that is reachable from other machines requires
// keys, or the setting that allows access without keys.
func Listen(c config.Gateway) (net.Listener, error) {
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return nil, precis.Errorf(precis.CodeInvalid, "listen", "gateway.listen is %q, want HOST:PORT",
			c.Listen)
	}
	if !loopback(host) && c.KeysFile == "" && !c.Public {
		return nil, &precis.Error{Code: precis.CodeInvalid, Op: "listen",
			Err:  fmt.Errorf("%s can be reached by others, and no keys are asked for", c.Listen),
			Hint: "set gateway.keys_file: to off when the network is trusted"}
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

// SoftMemoryLimit is the memory, in bytes, above which the Go runtime should collect garbage rather
// than grow: the limit for conversations plus a quarter for processing, and the limit for requests
// in progress.
func SoftMemoryLimit(c config.Gateway) int64 {
	const mb = 1 << 20
	return int64(c.MemoryMB)*mb*5/4 + int64(c.RequestsMB())*mb
}

// Serve answers requests until ctx ends. Then it reports that it is not ready, lets requests in
// progress finish for a while, and returns.
func (s *Service) Serve(ctx context.Context, l net.Listener) error {
	c := s.config().Gateway
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 256 << 10,
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
		op := "serve"
		if c.CertFile != "" {
			op = "serve by gateway.cert_files"
		}
		return precis.Errorf(precis.CodeInternal, op, "%w", err)
	case <-ctx.Done():
	}
	s.draining.Store(true)
	s.Gateway.ReleaseHolds()
	s.events.Close()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Duration(c.Drain)*time.Second)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		_ = server.Close() // their time is over
	}
	return nil
}

// noSignIn are paths where a client without a key looks for a way to sign in. The gateway has none,
// and the client must not be sent to an upstream's.
var noSignIn = []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server",
	"/.well-known/openid-configuration"}

// Handler serves the gateway and its own endpoints: /healthz, /readyz, /metrics, the dashboard at
// /precis/, the control API below /precis/api/, and the MCP server at /precis/mcp.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", s.ready)
	if s.p.Operations {
		mux.Handle("GET /metrics", s.requireAdmin(s.metrics.Handler()))
		api := control.New(control.Options{Gateway: s.Gateway, Events: s.events, Started: s.started,
			Save: s.saveSettings})
		mux.Handle("/precis/api/", s.requireMember(s.guardChanges(withoutHostCheck(api))))
		mux.Handle("/precis/mcp", s.requireMember(withoutHostCheck(mcpserver.Handler(s.mcpOptions))))
		for _, path := range noSignIn {
			mux.Handle(path, http.NotFoundHandler())
			mux.Handle(path+"/precis/mcp", http.NotFoundHandler())
		}
	}
	if s.pages != nil {
		mux.Handle("/precis/", s.pages)
	} else {
		mux.Handle("/precis/", http.NotFoundHandler()) // our own paths are never forwarded
	}
	mux.Handle("/", s.traces.Handler(s.Gateway))
	return s.guard(mux)
}

// mcpOptions returns the options of the MCP server for a request: it shows the same conversations as the
// control API, and allows edits under the same conditions.
func (s *Service) mcpOptions(r *http.Request) (mcpserver.Options, error) {
	owner, all, err := s.Gateway.Caller(r)
	if err != nil {
		return mcpserver.Options{}, err
	}
	if owner == gateway.AllOwners && !all {
		owner = ""
	}
	return mcpserver.Options{
		Home: s.Gateway.Home(owner), Edits: s.config().Gateway.MCPEdits && s.mayChange(r),
		Version: s.p.Version,
		Edited: func(ctx context.Context, id string,
			edits []conversation.EditInfo) {
			s.edited(ctx, owner, id, edits)
		},
	}, nil
}

// ready reports whether the gateway accepts requests: it has room for more, the store answers and
// keeps new data, and the gateway is not shutting down.
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
	if err := s.Gateway.CheckStore(r.Context()); err != nil { // logged when it begins
		http.Error(w, "the store does not keep what is new: "+reason(err), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ready")
}

// reason describes the fault of a store without its location, because callers of the readiness
// check are anonymous.
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

// probe makes a small request to the store.
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
