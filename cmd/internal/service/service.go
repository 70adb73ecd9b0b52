// Package service assembles a gateway from a configuration and runs it. Use [Open], then
// [Service.Serve], and [Service.Close] at the end.
package service

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/control"
	"github.com/precis-dev/precis/gateway/ownmodel"
	"github.com/precis-dev/precis/gateway/telemetry"
	"github.com/precis-dev/precis/models"
	"github.com/precis-dev/precis/outline"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/provider"
	"github.com/precis-dev/precis/tokens"
)

// Parts are the components of a service in addition to its configuration.
type Parts struct {
	Config  *config.Config
	Load    func(path string) (*config.Config, error) // reads the configuration of a profile
	Reload  func() (*config.Config, error)            // reads the configuration again; nil: no reload
	Logger  *slog.Logger                              // nil: silent
	Replica string
	Version string // of the program, for metrics and traces
	OTLP    string // URL for traces; "": no traces
	// Condensing returns the configured way of condensing with a model; nil: without a model. On an
	// [Unusable] error, conversations are condensed without a model.
	Condensing func(c *config.Config, own *ownmodel.Models) (*preset.Condensing, error)
	// Parser parses the files that are outlined below summaries; nil: see [outline.Of].
	Parser outline.Parser
	// Alert returns the observer of spending; nil: no observer.
	Alert func(c *config.Config) func(context.Context, policy.Alert)
	// Hooks returns the hooks around every rung; nil: no hooks.
	Hooks func(c *config.Config) policy.Hooks
	// Operations enables the control API, the dashboard and the metrics.
	Operations bool
	// Local: there are no upstreams, and requests are not forwarded.
	Local bool

	OnTurn   func(context.Context, gateway.Turn)  // nil: not called
	OnReport func(context.Context, policy.Report) // nil: not called
}

// Service is a running gateway.
type Service struct {
	Gateway *gateway.Gateway
	p       Parts
	cfg     atomic.Pointer[config.Config]
	files   files
	// configurations of profiles with files, for requests
	profileConfigs atomic.Pointer[map[string]*config.Config]
	started        time.Time

	store     precis.Store
	ownModels *ownmodel.Models
	catalog   *models.Catalog
	calib     precis.Calibrator
	admins    atomic.Bool // some owners are admins
	keys      *keyring
	logins    logins
	pages     http.Handler // the dashboard; nil without [Parts.Operations]

	observers
	draining atomic.Bool
}

// Open makes the service. The error is a [precis.Error] and names the fault.
func Open(ctx context.Context, p Parts) (*Service, error) {
	if p.Logger == nil {
		p.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Service{p: p, started: time.Now(), calib: tokens.Calibrator(p.Config.Estimate)}
	s.observers = observers{parts: &s.p, events: control.NewEvents(),
		metrics: telemetry.NewMetrics(telemetry.MetricsOptions{Version: p.Version})}
	s.p.Logger = slog.New(s.metrics.Logs(p.Logger.Handler()))
	s.cfg.Store(p.Config)
	var err error
	if s.catalog, err = p.Config.Catalog(); err != nil {
		return nil, err
	}
	if err := s.watch(ctx, p.Config.Gateway); err != nil {
		return nil, err
	}
	st, shared, secret, err := openStore(ctx, p.Config)
	if err != nil {
		return nil, err
	}
	s.store = st
	if shared {
		if err := checkReplicas(ctx, st, agreedOf(p.Config, secret), s.p.Logger); err != nil {
			_ = st.Close()
			return nil, err
		}
	}
	o, err := s.options(p.Config)
	if err == nil {
		o.Shared, o.Auth.Secret = shared, secret
		s.Gateway, err = gateway.New(o)
	}
	if err == nil && p.Operations {
		s.pages, err = s.dashboard()
	}
	if err != nil {
		_ = st.Close()
		return nil, err
	}
	s.metrics.Watch(telemetry.Watched{Status: func() gateway.Status { return s.Gateway.Status(gateway.AllOwners) }, Store: s.probe, Webhook: s.webhook})
	if err := o.Manager.WithStore(st).LoadCalibration(ctx); err != nil {
		s.p.Logger.WarnContext(ctx, "what was learned about counting is not there", "error", err)
	}
	return s, nil
}

// config returns the configuration in force.
func (s *Service) config() *config.Config { return s.cfg.Load() }

// options returns the options of the gateway.
func (s *Service) options(c *config.Config) (gateway.Options, error) {
	g := c.Gateway
	ups, bare, err := Upstreams(g)
	if err != nil {
		return gateway.Options{}, err
	}
	up, err := Transport(g, bare)
	if err != nil {
		return gateway.Options{}, err
	}
	up = s.traces.Transport(up)
	s.ownModels = &ownmodel.Models{Catalog: s.catalog, Transport: up,
		Config: provider.Config{Timeout: time.Duration(c.Summarizer.Timeout) * time.Second}}
	m, err := s.managers(c)
	if err != nil {
		return gateway.Options{}, err
	}
	s.useConfigs(m.configs)
	summarizer, err := s.summarizer(c)
	if err != nil {
		return gateway.Options{}, err
	}
	keys, err := ReadKeys(g.KeysFile)
	if err != nil {
		return gateway.Options{}, err
	}
	s.keys = newKeyring(keys.Owners, keys.Admins)
	s.admins.Store(len(keys.Admins) > 0)
	return gateway.Options{
		Upstreams: ups, Local: s.p.Local, Manager: m.manager, Profiles: m.profiles,
		ProfileWindow: s.profileWindow, Assign: s.assign, Store: s.store, Replica: s.p.Replica, Transport: up,
		Probe:  true,
		Models: s.catalog, Window: s.window,
		Auth:   s.keys.auth(keys.Admins),
		Limits: gateway.Limits{Memory: int64(g.RequestsMB()) << 20},
		Native: gateway.Native{ContextManagement: g.Native, Compact: g.Native},
		Memory: g.MemoryMB << 20,
		Logger: s.p.Logger, OnTurn: s.turn, OnHold: s.events.PublishHold, OnReduce: s.events.PublishReducing,
		Recall: g.Recall, CondenseTool: g.CondenseTool, Bridge: gateway.Bridge(g.Bridge),
		Summarizer: summarizer,
	}, nil
}

// Close waits for work in progress and closes the store.
func (s *Service) Close(ctx context.Context) error {
	s.events.Close()
	err := s.Gateway.Close(ctx)
	s.webhook.Close(ctx)
	if terr := s.traces.Close(ctx); terr != nil {
		s.p.Logger.WarnContext(ctx, "not all traces were exported", "error", terr)
	}
	if cerr := s.store.Close(); err == nil {
		err = cerr
	}
	return err
}
