package jobs

import (
	"context"
	"log/slog"
	"os"

	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/cmd/internal/service"
	"github.com/precis-dev/precis/gateway/ownmodel"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
)

// GatewayParts returns the parts of a gateway.
func (o *Opener) GatewayParts(cfg *config.Config, log *slog.Logger, version string) service.Parts {
	return service.Parts{
		Config: cfg, Logger: log, Condensing: o.GatewayCondensing, Parser: o.Parser(log), Version: version,
		OTLP:  os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"),
		Alert: func(c *config.Config) func(context.Context, policy.Alert) { return o.alert(c.Hooks.Alert) },
		Hooks: func(c *config.Config) policy.Hooks { return rungHooks(c.Hooks) },
		Load:  func(path string) (*config.Config, error) { return config.Load(config.Sources{Path: path}) },
	}
}

// ownModel, as the value of summarizer.model, selects the model of each conversation.
const ownModel = "own"

// GatewayCondensing returns how the gateway condenses with a model; nil: without one. The error is
// a [service.Unusable] for an invalid summarizer.
func (o *Opener) GatewayCondensing(c *config.Config, own *ownmodel.Models) (*preset.Condensing, error) {
	s := c.Summarizer
	if s.Model == "" {
		return nil, nil
	}
	by, err := condensingBy(c)
	if err != nil {
		return nil, err
	}
	if s.Model == ownModel {
		by.Writer.Own, by.Selective = own.Model, false
		return by, nil
	}
	catalog, err := c.Catalog()
	if err != nil {
		return nil, err
	}
	if err = usable(catalog, s); err == nil {
		by.Writer.Model, err = newClient(catalog, s)
	}
	if err != nil {
		return nil, &service.Unusable{Err: err}
	}
	return by, nil
}
