// Package service puts a gateway together from a configuration and runs it. Use
// [Open], then [Service.Serve], and [Service.Close] at the end.
package service

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"precis"
	"precis/cmd/internal/config"
	"precis/condense"
	"precis/gateway"
	"precis/models"
	"precis/preset"
	"precis/provider"
	"precis/tokens"
)

// Parts are what a service is made of beside its configuration.
type Parts struct {
	Config  *config.Config
	Load    func(path string) (*config.Config, error) // reads the configuration of a profile
	Logger  *slog.Logger                              // nil: silent
	Replica string
	// Condensing returns how a configured model condenses; nil: none does.
	Condensing func(c *config.Config, own *gateway.OwnModels) (*preset.Condensing, error)
	OnTurn     func(context.Context, gateway.Turn)
}

// Service is a running gateway.
type Service struct {
	Gateway *gateway.Gateway
	p       Parts
	store   precis.Store
	own     *gateway.OwnModels
	catalog *models.Catalogue
	calib   precis.Calibrator
	server  *http.Server
}

// Open makes the service. The error is a [precis.Error] and names what is wrong.
func Open(ctx context.Context, p Parts) (*Service, error) {
	if p.Logger == nil {
		p.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Service{p: p, calib: tokens.Calibrator(p.Config.Estimate)}
	var err error
	if s.catalog, err = catalogue(p.Config.ModelsFile); err != nil {
		return nil, err
	}
	st, shared, secret, err := openStore(ctx, p.Config)
	if err != nil {
		return nil, err
	}
	s.store = st
	o, err := s.options(p.Config)
	if err == nil {
		o.Shared = shared
		o.Auth.Secret = secret
		s.Gateway, err = gateway.New(o)
	}
	if err != nil {
		_ = st.Close()
		return nil, err
	}
	if err := o.Manager.With(st).LoadCalibration(ctx); err != nil {
		p.Logger.WarnContext(ctx, "what was learned about counting is not there", "error", err)
	}
	return s, nil
}


func catalogue(path string) (*models.Catalogue, error) {
	var o models.Options
	if path != "" {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, &precis.Error{Code: precis.CodeNotFound, Op: "read models", Place: path, Err: err}
		}
		if o.Overrides, err = models.ParseOverrides(data, path); err != nil {
			return nil, precis.Errorf(precis.CodeInvalid, "read models", "%w", err)
		}
	}
	return models.New(o)
}

// options are those of the gateway.
func (s *Service) options(c *config.Config) (gateway.Options, error) {
	g := c.Gateway
	ups, err := Upstreams(g)
	if err != nil {
		return gateway.Options{}, err
	}
	s.own = &gateway.OwnModels{Catalogue: s.catalog, Config: provider.Config{Timeout: time.Duration(c.Summarizer.Timeout) * time.Second}}
	m, profiles, err := s.managers(c)
	if err != nil {
		return gateway.Options{}, err
	}
	keys, err := readKeys(g.KeysFile)
	if err != nil {
		return gateway.Options{}, err
	}
	return gateway.Options{
		Upstreams: ups, Manager: m, Profiles: profiles, Store: s.store, Replica: s.p.Replica,
		Window: s.window, OutputLimit: s.outputLimit, Cost: s.cost,
		Auth:      gateway.Auth{Keys: keys},
		Limits:    gateway.Limits{Body: int64(g.MaxBodyMB) << 20, Concurrency: g.MaxRequests},
		Native:    gateway.Native{ContextManagement: g.Native, Compact: g.Native},
		KeepAlive: time.Duration(g.KeepAlive) * time.Second, Memory: g.MemoryMB << 20,
		Logger: s.p.Logger, OnTurn: s.p.OnTurn,
	}, nil
}

// Upstreams returns the upstreams that a configuration names.
func Upstreams(g config.Gateway) ([]gateway.Upstream, error) {
	named := []struct{ name, url string }{
		{"anthropic", cmp.Or(g.Anthropic, g.Upstream, "https://api.anthropic.com")},
		{"openai", cmp.Or(g.OpenAI, g.Upstream, "https://api.openai.com")},
	}
	speaks := [][]string{{"anthropic"}, {"chat", "responses"}}
	for _, item := range g.Others {
		name, u, ok := strings.Cut(item, "=")
		if !ok {
			return nil, precis.Errorf(precis.CodeInvalid, "read configuration", "gateway.others: %q is not NAME=URL", item)
		}
		named = append(named, struct{ name, url string }{name, u})
		speaks = append(speaks, nil)
	}
	var out []gateway.Upstream
	for i, n := range named {
		u, err := url.Parse(n.url)
		if err != nil {
			return nil, precis.Errorf(precis.CodeInvalid, "read configuration", "the URL of the upstream %s cannot be understood", n.name)
		}
		out = append(out, gateway.Upstream{Name: n.name, URL: u, Dialects: speaks[i]})
	}
	return out, nil
}

// managers returns the manager of the configuration and those of its profiles.
func (s *Service) managers(c *config.Config) (*precis.Manager, map[string]*precis.Manager, error) {
	m, err := s.manager(c)
	if err != nil {
		return nil, nil, err
	}
	profiles := map[string]*precis.Manager{}
	for _, item := range c.Gateway.Profiles {
		name, path, ok := strings.Cut(item, "=")
		if !ok || s.p.Load == nil {
			return nil, nil, precis.Errorf(precis.CodeInvalid, "read configuration", "gateway.profiles: %q is not NAME=FILE", item)
		}
		own, err := s.p.Load(path)
		if err != nil {
			return nil, nil, err
		}
		if profiles[name], err = s.manager(own); err != nil {
			return nil, nil, err
		}
	}
	for _, name := range preset.Names() { // every preset is a profile, too
		if profiles[name] != nil {
			continue
		}
		own := *c
		if own.Settings, err = preset.Settings(name); err != nil {
			return nil, nil, err
		}
		if profiles[name], err = s.manager(&own); err != nil {
			return nil, nil, err
		}
	}
	return m, profiles, nil
}

func (s *Service) manager(c *config.Config) (*precis.Manager, error) {
	var condensing *preset.Condensing
	if s.p.Condensing != nil {
		var err error
		if condensing, err = s.p.Condensing(c, s.own); err != nil {
			return nil, err
		}
	}
	settings := c.Settings
	if settings.Turns == 0 && settings.Preset != preset.Roo && settings.Preset != preset.Off && !c.Given("room.turns") {
		settings.Turns, settings.Floor = roomTurns, roomFloor
	}
	return preset.New(preset.Options{
		Settings: settings, Estimate: c.Estimate, Condensing: condensing, Logger: s.p.Logger, Calibrator: s.calib,
	})
}

// What a prompt cache is worth to requests that pay for it: room for so many
// turns, down to this share of the window.
const (
	roomTurns = 10
	roomFloor = 20
)

// OwnWriter has the model of each conversation write summaries.
func OwnWriter(own *gateway.OwnModels, prompt condense.Prompt, maxTokens int) condense.WriterConfig {
	return condense.WriterConfig{Own: own.Model, Prompt: prompt, MaxTokens: maxTokens}
}

func (s *Service) window(_ context.Context, model string) precis.Window {
	c := s.p.Config
	if c.Window > 0 {
		return precis.Window{Tokens: c.Window, Source: precis.SourceConfigured, Detail: c.Origin("window")}
	}
	return s.catalog.Window(model)
}

func (s *Service) outputLimit(model string) int {
	m, _ := s.catalog.Find(model)
	return m.MaxOutput.Tokens
}

func (s *Service) cost(dialect, model string, u precis.Usage) float64 {
	m, ok := s.catalog.Find(model)
	if !ok {
		return 0
	}
	protocol := models.OpenAI
	if dialect == "anthropic" {
		protocol = models.Anthropic
	}
	return models.Cost(protocol, m.Prices, u, "").USD
}

// Listen opens the configured address. One that others reach needs keys, or the
// word that none are wanted.
func Listen(c config.Gateway) (net.Listener, error) {
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return nil, precis.Errorf(precis.CodeInvalid, "listen", "gateway.listen is %q, want HOST:PORT", c.Listen)
	}
	ip := net.ParseIP(host)
	local := host == "localhost" || ip != nil && ip.IsLoopback()
	if !local && c.KeysFile == "" && !c.Public {
		return nil, &precis.Error{Code: precis.CodeInvalid, Op: "listen", Err: fmt.Errorf("%s can be reached by others, and no keys are asked for", c.Listen),
			Hint: "set gateway.keys_file, or gateway.public when the network is trusted"}
	}
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return nil, precis.Errorf(precis.CodeInternal, "listen", "%w", err)
	}
	return l, nil
}

// Serve answers requests until ctx ends, then lets those under way finish for a
// while, and returns.
func (s *Service) Serve(ctx context.Context, l net.Listener) error {
	c := s.p.Config.Gateway
	s.server = &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 256 << 10,
		ErrorLog: slog.NewLogLogger(s.p.Logger.Handler(), slog.LevelDebug)}
	ended := make(chan error, 1)
	go func() {
		if c.CertFile != "" {
			ended <- s.server.ServeTLS(l, c.CertFile, c.KeyFile)
		} else {
			ended <- s.server.Serve(l)
		}
	}()
	select {
	case err := <-ended:
		return precis.Errorf(precis.CodeInternal, "serve", "%w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Duration(c.Drain)*time.Second)
	defer cancel()
	if err := s.server.Shutdown(grace); err != nil {
		_ = s.server.Close() // they were given their time
	}
	return nil
}

// Handler serves the gateway and what stands beside it.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.Handle("/", s.Gateway)
	return mux
}

// Close waits for work under way and closes the store.
func (s *Service) Close(ctx context.Context) error {
	err := s.Gateway.Close(ctx)
	if cerr := s.store.Close(); err == nil {
		err = cerr
	}
	return err
}
