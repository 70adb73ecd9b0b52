package service

import (
	"context"
	"log/slog"
	"net/url"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/control"
	"github.com/precis-dev/precis/gateway/telemetry"
	"github.com/precis-dev/precis/policy"
)

// observers are informed of the gateway's activity.
type observers struct {
	parts   *Parts
	metrics *telemetry.Metrics
	traces  *telemetry.Traces
	webhook *telemetry.Webhook
	events  *control.Events
}

// watch sets up traces and the webhook.
func (o *observers) watch(ctx context.Context, g config.Gateway) error {
	const op = "read configuration"
	if endpoint := o.parts.OTLP; endpoint != "" {
		if !isURL(endpoint) {
			return precis.Errorf(precis.CodeInvalid, op,
				"OTEL_EXPORTER_OTLP_ENDPOINT is no http or https URL")
		}
		var err error
		if o.traces, err = telemetry.NewTraces(ctx,
			telemetry.TracesOptions{Endpoint: endpoint, Version: o.parts.Version,
				Logger: o.parts.Logger}); err != nil {
			return err
		}
	}
	if g.Webhook != "" {
		if !isURL(g.Webhook) {
			return precis.Errorf(precis.CodeInvalid, op, "gateway.webhook is no http or https URL")
		}
		o.webhook = telemetry.NewWebhook(telemetry.WebhookOptions{URL: g.Webhook, Logger: o.parts.Logger})
	}
	return nil
}

func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// turn reports a request to all observers.
func (o *observers) turn(ctx context.Context, t gateway.Turn) {
	o.metrics.Turn(ctx, t)
	o.traces.Turn(ctx, t)
	o.webhook.Turn(ctx, t)
	o.events.PublishTurn(ctx, t)
	o.logTurn(ctx, t)
	if o.parts.OnTurn != nil {
		o.parts.OnTurn(ctx, t)
	}
}

// logTurn logs one line per request, without content.
func (o *observers) logTurn(ctx context.Context, t gateway.Turn) {
	if !o.parts.Logger.Enabled(ctx, slog.LevelInfo) {
		return
	}
	attrs := []slog.Attr{
		slog.String("conversation", t.Conversation), slog.String("owner", t.Owner),
		slog.String("dialect", t.Dialect), slog.String("model", t.Model),
		slog.String("upstream", t.Upstream), slog.String("kind", t.Kind), slog.String("action", t.Action),
		slog.Int("status", t.Status), slog.Bool("stream", t.Stream),
	}
	if t.Unmanaged != "" {
		attrs = append(attrs, slog.String("unmanaged", string(t.Unmanaged)))
	}
	if r := t.Report; r != nil {
		attrs = append(attrs, slog.Int("said", max(r.Unreduced, r.Before.Tokens)),
			slog.Int("sent", r.After.Tokens), slog.Int("window", r.Decision.Window.Tokens))
	}
	attrs = append(attrs, slog.Int("input", t.Input), slog.Int("output", t.Usage.Output),
		slog.Float64("cost_usd", t.CostUSD), slog.Int("retries", t.Retries),
		slog.Duration("overhead", t.Overhead), slog.Duration("first_byte", t.FirstByte),
		slog.Duration("took", t.Took))
	if code := precis.CodeOf(t.Err); code != "" {
		attrs = append(attrs, slog.String("error", string(code)))
	}
	o.parts.Logger.LogAttrs(ctx, slog.LevelInfo, "request", attrs...)
}

// report reports a pass to all observers.
func (o *observers) report(ctx context.Context, r policy.Report) {
	o.metrics.Report(ctx, r)
	o.traces.Report(ctx, r)
	o.webhook.Report(ctx, r)
	if o.parts.OnReport != nil {
		o.parts.OnReport(ctx, r)
	}
}

// alert returns the observer of spending; the hook may be nil.
func (o *observers) alert(hook func(context.Context, policy.Alert)) func(context.Context, policy.Alert) {
	return func(ctx context.Context, a policy.Alert) {
		o.metrics.Alert(ctx, a)
		o.webhook.Alert(ctx, a)
		if hook != nil {
			go hook(context.WithoutCancel(ctx), a) // it may be a slow program
		}
	}
}
