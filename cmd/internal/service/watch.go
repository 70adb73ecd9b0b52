package service

import (
	"cmp"
	"context"
	"log/slog"
	"net/url"

	"precis"
	"precis/cmd/internal/config"
	"precis/gateway"
	"precis/gateway/telemetry"
)

// watch prepares traces and posts.
func (s *Service) watch(ctx context.Context, g config.Gateway) error {
	const op = "read configuration"
	if endpoint := cmp.Or(g.OTLP, s.p.OTLP); endpoint != "" {
		if !isURL(endpoint) {
			return precis.Errorf(precis.CodeInvalid, op, "gateway.otlp_endpoint is no http or https URL")
		}
		var err error
		if s.traces, err = telemetry.NewTraces(ctx, telemetry.TracesOptions{Endpoint: endpoint, Version: s.p.Version, Logger: s.p.Logger}); err != nil {
			return err
		}
	}
	if g.Webhook != "" {
		if !isURL(g.Webhook) {
			return precis.Errorf(precis.CodeInvalid, op, "gateway.webhook is no http or https URL")
		}
		s.webhook = telemetry.NewWebhook(telemetry.WebhookOptions{URL: g.Webhook, Logger: s.p.Logger})
	}
	return nil
}

func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// turn tells everybody of a request.
func (s *Service) turn(ctx context.Context, t gateway.Turn) {
	s.metrics.Turn(ctx, t)
	s.traces.Turn(ctx, t)
	s.webhook.Turn(ctx, t)
	s.events.Turn(ctx, t)
	s.logTurn(ctx, t)
	if s.p.OnTurn != nil {
		s.p.OnTurn(ctx, t)
	}
}

// logTurn writes one line for a request, without what was said.
func (s *Service) logTurn(ctx context.Context, t gateway.Turn) {
	if !s.p.Logger.Enabled(ctx, slog.LevelInfo) {
		return
	}
	attrs := []slog.Attr{
		slog.String("conversation", t.Conversation), slog.String("owner", t.Owner), slog.String("dialect", t.Dialect), slog.String("model", t.Model),
		slog.String("upstream", t.Upstream), slog.String("kind", t.Kind), slog.String("action", t.Action), slog.Int("status", t.Status), slog.Bool("stream", t.Stream),
	}
	if r := t.Report; r != nil {
		attrs = append(attrs, slog.Int("said", max(r.Said, r.Before.Tokens)), slog.Int("sent", r.After.Tokens), slog.Int("window", r.Decision.Window.Tokens))
	}
	attrs = append(attrs, slog.Int("input", t.Input), slog.Int("output", t.Usage.Output), slog.Float64("cost_usd", t.CostUSD), slog.Int("retries", t.Retries),
		slog.Duration("overhead", t.Overhead), slog.Duration("first_byte", t.FirstByte), slog.Duration("took", t.Took))
	if code := precis.CodeOf(t.Err); code != "" {
		attrs = append(attrs, slog.String("error", string(code)))
	}
	s.p.Logger.LogAttrs(ctx, slog.LevelInfo, "request", attrs...)
}

// report tells everybody of a check.
func (s *Service) report(ctx context.Context, r precis.Report) {
	s.metrics.Report(ctx, r)
	s.traces.Report(ctx, r)
	s.webhook.Report(ctx, r)
	if s.p.OnReport != nil {
		s.p.OnReport(ctx, r)
	}
}

// alert returns what is told of spending; the hook may be nil.
func (s *Service) alert(hook func(context.Context, precis.Alert)) func(context.Context, precis.Alert) {
	return func(ctx context.Context, a precis.Alert) {
		s.metrics.Alert(ctx, a)
		s.webhook.Alert(ctx, a)
		if hook != nil {
			go hook(context.WithoutCancel(ctx), a) // it may be a program; nobody waits for it
		}
	}
}
