package telemetry

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/policy"
)

// TracesOptions are the parts of [Traces]. Endpoint or Exporter is required.
type TracesOptions struct {
	Endpoint string           // URL of an OTLP collector, without /v1/traces
	Exporter sdk.SpanExporter // used instead of Endpoint
	Version  string           // of the program; "": unknown
	Logger   *slog.Logger     // nil: silent
}

// Traces makes spans of requests, with the names of the OpenTelemetry semantic conventions for
// generative AI. Make it with [NewTraces] and end it with [Traces.Close]. Methods of a nil Traces
// do not trace. It is safe for concurrent use.
type Traces struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	context  propagation.TraceContext
}

// NewTraces returns traces. The error is [precis.CodeInvalid] for an unusable endpoint.
func NewTraces(ctx context.Context, o TracesOptions) (*Traces, error) {
	exporter := o.Exporter
	if exporter == nil {
		client, err := newCollector(strings.TrimRight(o.Endpoint, "/")+"/v1/traces", os.Getenv)
		if err == nil {
			exporter, err = otlptrace.New(ctx, client)
		}
		if err != nil {
			return nil, precis.Errorf(precis.CodeInvalid, "export traces", "%w", err)
		}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	about := resource.NewSchemaless(attribute.String("service.name", "precis"),
		attribute.String("service.version", orNone(o.Version)))
	provider := sdk.NewTracerProvider(sdk.WithBatcher(&exportLogger{SpanExporter: exporter, log: o.Logger}),
		sdk.WithResource(about))
	return &Traces{provider: provider, tracer: provider.Tracer("github.com/precis-dev/precis/gateway")}, nil
}

// exportLogger logs failed exports, at limited frequency, instead of printing them as the library does.
type exportLogger struct {
	sdk.SpanExporter
	log  *slog.Logger
	fail atomic.Int64
}

// ExportSpans exports spans; on failure they are lost.
func (q *exportLogger) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	const often = 60
	if err := q.SpanExporter.ExportSpans(ctx, spans); err != nil && q.fail.Add(1)%often == 1 {
		q.log.WarnContext(ctx, "traces cannot be exported", "error", err)
	}
	return nil
}

// Handler makes a span for each request, in the trace that its client named.
func (t *Traces) Handler(next http.Handler) http.Handler {
	if t == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := t.context.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		ctx, span := t.tracer.Start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer),
			trace.WithAttributes(attribute.String("http.request.method", r.Method)))
		defer span.End()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// Transport passes the trace of a request on to upstreams.
func (t *Traces) Transport(next http.RoundTripper) http.RoundTripper {
	if t == nil {
		return next
	}
	return tracedTransport{t, next}
}

type tracedTransport struct {
	t    *Traces
	next http.RoundTripper
}

// RoundTrip sends the request.
func (t tracedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if trace.SpanContextFromContext(r.Context()).IsValid() {
		r = r.Clone(r.Context())
		t.t.context.Inject(r.Context(), propagation.HeaderCarrier(r.Header))
	}
	return t.next.RoundTrip(r)
}

// providers are the well-known names of the providers, by dialect.
var providers = map[string]string{"anthropic": "anthropic", "chat": "openai", "responses": "openai"}

// Turn describes the span of a request.
func (t *Traces) Turn(ctx context.Context, turn gateway.Turn) {
	if t == nil {
		return
	}
	span := trace.SpanFromContext(ctx)
	set := func(kv ...attribute.KeyValue) { span.SetAttributes(kv...) }
	set(attribute.Int("http.response.status_code", turn.Status),
		attribute.String("precis.action", turn.Action),
		attribute.String("precis.kind", turn.Kind), attribute.String("precis.upstream", turn.Upstream))
	if turn.Dialect == "" {
		span.SetName("pass through")
	} else {
		span.SetName("chat " + turn.Model)
		set(attribute.String("gen_ai.operation.name", "chat"),
			attribute.String("gen_ai.provider.name", providers[turn.Dialect]),
			attribute.String("gen_ai.request.model", turn.Model),
			attribute.String("gen_ai.conversation.id", turn.Conversation),
			attribute.Int("gen_ai.usage.input_tokens", turn.Input),
			attribute.Int("gen_ai.usage.output_tokens", turn.Usage.Output),
			attribute.Int("gen_ai.usage.cache_read.input_tokens", turn.Usage.CacheRead),
			attribute.Int("gen_ai.usage.cache_creation.input_tokens", turn.Usage.CacheWrite),
			attribute.String("precis.dialect", turn.Dialect), attribute.Bool("precis.stream", turn.Stream),
			attribute.Int("precis.overflow_retries", turn.Retries),
			attribute.Float64("precis.overhead_ms", ms(turn.Overhead)),
			attribute.Float64("precis.first_byte_ms", ms(turn.FirstByte)),
			attribute.Float64("precis.cost_usd", turn.CostUSD))
	}
	if r := turn.Report; r != nil {
		set(attribute.Int("precis.tokens.said", max(r.Unreduced, r.Before.Tokens)),
			attribute.Int("precis.tokens.forwarded", r.After.Tokens),
			attribute.Int("precis.window", r.Decision.Window.Tokens))
	}
	if code := precis.CodeOf(turn.Err); code != "" {
		set(attribute.String("error.type", string(code)))
		span.SetStatus(codes.Error, string(code))
	} else if turn.Status >= 500 {
		span.SetStatus(codes.Error, "upstream")
	}
}

// Report makes a span for a condensation, as a child of the span of its request.
func (t *Traces) Report(ctx context.Context, r policy.Report) {
	if t == nil || len(r.Steps) == 0 {
		return
	}
	end := time.Now()
	_, span := t.tracer.Start(ctx, "condense", trace.WithTimestamp(end.Add(-r.Took)), trace.WithAttributes(
		attribute.String("gen_ai.conversation.id", r.Conversation),
		attribute.String("precis.triggered_by", string(r.TriggeredBy)),
		attribute.Int("precis.tokens.before", r.Before.Tokens),
		attribute.Int("precis.tokens.after", r.After.Tokens),
		attribute.Int("precis.edits", len(r.Edits)), attribute.Float64("precis.cost_usd", r.CostUSD())))
	defer span.End(trace.WithTimestamp(end))
	for _, s := range r.Steps {
		span.AddEvent("rung", trace.WithAttributes(attribute.String("precis.rung", s.Rung),
			attribute.String("precis.outcome", string(s.Outcome)),
			attribute.String("precis.code", string(s.Code)), attribute.Int("precis.tokens.before", s.Before),
			attribute.Int("precis.tokens.after", s.After)))
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Close exports the remaining spans, at most until ctx ends.
func (t *Traces) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}
