package telemetry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/telemetry"
	"github.com/precis-dev/precis/policy"
)

var reduced = policy.Report{
	Conversation: "c1", Model: "m", TriggeredBy: precis.TriggeredBackground, Unreduced: 900, Before: policy.Size{Tokens: 800}, After: policy.Size{Tokens: 300}, Took: time.Second,
	Decision: policy.Decision{Window: precis.Window{Tokens: 1000}},
	Edits:    []policy.EditSummary{{ID: "e", Kind: precis.KindCondensation, Rung: "condense", Saved: 500}},
	Steps: []precis.RungResult{
		{Rung: "dedupe", Outcome: "skipped", Code: "nothing"},
		{Rung: "condense", Outcome: "accepted", Before: 800, After: 300, Call: &precis.CallReport{Usage: precis.Usage{Input: 700, Output: 50}, CostUSD: 0.25}},
	},
}

var answered = gateway.Turn{
	Conversation: "c1", Owner: "p1", Dialect: "anthropic", Model: "m", Upstream: "anthropic", Kind: "continues", Action: "reduced", Status: 200,
	Report: &reduced, Usage: precis.Usage{Input: 310, Output: 20, CacheRead: 5}, Input: 315, CostUSD: 0.5, Retries: 1, Overhead: time.Millisecond, FirstByte: time.Second, Took: 2 * time.Second,
}

func scrape(t *testing.T, m *telemetry.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func TestMetrics(t *testing.T) {
	m := telemetry.NewMetrics(telemetry.MetricsOptions{Version: "v1", Models: 2})
	m.Watch(telemetry.Watched{
		Status: func() gateway.Status {
			return gateway.Status{Active: 3, Conversations: 4, Windows: []gateway.LearnedWindow{{Upstream: "openai", Model: "m", Tokens: 8192}}}
		},
		Store: func(context.Context) error { return errors.New("down") },
	})
	ctx := t.Context()
	m.Turn(ctx, answered)
	m.Turn(ctx, gateway.Turn{Dialect: "responses", Kind: "stateful", Action: "pass", Status: 200})
	m.Report(ctx, reduced)
	m.Edit(ctx, precis.Edit{Kind: precis.KindCondensation, Report: precis.EditReport{Rung: "condense", Trigger: "background"}})
	m.Alert(ctx, policy.Alert{Kind: "spend_limit", Scope: "day"})
	for n := range 5 { // a client that makes up models
		m.Turn(ctx, gateway.Turn{Dialect: "chat", Model: fmt.Sprint("made-up-", n), Action: "none", Status: 404})
	}
	log := slog.New(m.Logs(slog.DiscardHandler))
	log.Warn("the store did not answer", "error", "secret")
	out := scrape(t, m)
	for _, want := range []string{
		`precis_requests_total{action="reduced",dialect="anthropic",model="m",status="2xx"} 1`,
		`precis_recognized_total{dialect="responses",kind="stateful"} 1`,
		`precis_requests_total{action="none",dialect="chat",model="made-up-0",status="4xx"} 1`,
		`precis_requests_total{action="none",dialect="chat",model="other",status="4xx"} 4`,
		`precis_said_tokens_total{dialect="anthropic",model="m"} 900`, `precis_forwarded_tokens_total{dialect="anthropic",model="m"} 300`,
		`precis_saved_tokens_total{dialect="anthropic",model="m"} 600`, `precis_usage_tokens_total{dialect="anthropic",kind="cache_read",model="m"} 5`,
		`precis_cost_usd_total{dialect="anthropic",model="m"} 0.5`, `precis_overflow_retries_total{dialect="anthropic",model="m"} 1`,
		`precis_condensation_steps_total{code="nothing",outcome="skipped",rung="dedupe"} 1`, `precis_condensation_steps_total{code="none",outcome="accepted",rung="condense"} 1`,
		`precis_edits_total{kind="condensation",rung="condense",trigger="background"} 1`, `precis_prepared_condensations_total 1`,
		`precis_condensing_cost_usd_total 0.25`, `precis_alerts_total{kind="spend_limit",scope="day"} 1`,
		`precis_active_requests 3`, `precis_conversations_in_memory 4`, `precis_learned_window_tokens{model="m",upstream="openai"} 8192`, `precis_store_up 0`,
		`precis_log_messages_total{level="WARN",message="the store did not answer"} 1`, `precis_build_info{version="v1"} 1`, `precis_first_byte_seconds_count{dialect="anthropic"} 1`,
	} {
		if !strings.Contains(out, want+"\n") {
			t.Errorf("there is no %s", want)
		}
	}
	if strings.Contains(out, "secret") {
		t.Error("an attribute of the log is in the metrics")
	}
}

func TestTraces(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	traces, err := telemetry.NewTraces(t.Context(), telemetry.TracesOptions{Exporter: keep{spans}})
	if err != nil {
		t.Fatal(err)
	}
	var told string
	upstream := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { told = r.Header.Get("Traceparent") }))
	defer upstream.Close()
	h := traces.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		traces.Report(r.Context(), reduced)
		req, _ := http.NewRequestWithContext(r.Context(), "GET", upstream.URL, nil)
		res, err := traces.Transport(http.DefaultTransport).RoundTrip(req)
		if err != nil {
			t.Error(err)
			return
		}
		_ = res.Body.Close()
		traces.Turn(r.Context(), answered)
	}))
	r := httptest.NewRequest("POST", "/v1/messages", nil)
	r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	h.ServeHTTP(httptest.NewRecorder(), r)
	if err := traces.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := spans.GetSpans()
	if len(got) != 2 || got[0].Name != "condense" || got[1].Name != "chat m" {
		t.Fatalf("%d spans: %+v", len(got), got)
	}
	child, server := got[0], got[1]
	if child.Parent.SpanID() != server.SpanContext.SpanID() || server.Parent.SpanID().String() != "b7ad6b7169203331" || server.SpanKind != trace.SpanKindServer {
		t.Errorf("the spans do not belong together: %v below %v", child.Parent, server.Parent)
	}
	if want := "00-0af7651916cd43dd8448eb211c80319c-" + server.SpanContext.SpanID().String() + "-01"; told != want {
		t.Errorf("the upstream was told %q, want %q", told, want)
	}
	attrs := map[string]string{}
	for _, kv := range server.Attributes {
		attrs[string(kv.Key)] = kv.Value.String()
	}
	for name, want := range map[string]string{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "anthropic", "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": "315",
		"gen_ai.usage.output_tokens": "20", "precis.action": "reduced", "precis.tokens.said": "900", "precis.tokens.forwarded": "300",
	} {
		if attrs[name] != want {
			t.Errorf("%s is %q, want %q", name, attrs[name], want)
		}
	}
	if len(child.Events) != 2 {
		t.Errorf("%d rungs", len(child.Events))
	}
}

// keep keeps spans after the end.
type keep struct{ *tracetest.InMemoryExporter }

func (keep) Shutdown(context.Context) error { return nil }

func TestNoTracesCostNothing(t *testing.T) {
	var traces *telemetry.Traces
	traces.Turn(t.Context(), answered)
	traces.Report(t.Context(), reduced)
	if traces.Transport(http.DefaultTransport) != http.DefaultTransport || traces.Close(t.Context()) != nil {
		t.Error("no traces do something")
	}
	var hook *telemetry.Webhook
	hook.Turn(t.Context(), answered)
	hook.Close(t.Context())
}

func TestTracesAreExported(t *testing.T) {
	paths := make(chan string, 4)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { paths <- r.URL.Path }))
	defer collector.Close()
	traces, err := telemetry.NewTraces(t.Context(), telemetry.TracesOptions{Endpoint: collector.URL})
	if err != nil {
		t.Fatal(err)
	}
	traces.Handler(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	if err := traces.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := <-paths; got != "/v1/traces" {
		t.Errorf("exported to %s", got)
	}
}

func TestWebhookTellsAndTriesAgain(t *testing.T) {
	notes := make(chan telemetry.Note, 10)
	var refused atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refused.Add(1) <= 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		body, _ := io.ReadAll(r.Body)
		var n telemetry.Note
		if err := json.Unmarshal(body, &n); err != nil {
			t.Error(err)
		}
		notes <- n
	}))
	defer server.Close()
	hook := telemetry.NewWebhook(telemetry.WebhookOptions{URL: server.URL, Pause: time.Millisecond})
	ctx := t.Context()
	hook.Report(ctx, reduced)
	hook.Report(ctx, policy.Report{}) // nothing was done
	hook.Turn(ctx, answered)
	hook.Turn(ctx, gateway.Turn{Status: 502, Err: precis.Errorf(precis.CodeUpstream, "forward", "said: secret")})
	hook.Turn(ctx, gateway.Turn{Status: 499, Err: precis.Errorf(precis.CodeCanceled, "forward", "gone")})
	hook.Alert(ctx, policy.Alert{Kind: "spend_warning", Scope: "conversation", SpentUSD: 1, LimitUSD: 2})
	hook.Close(ctx)
	close(notes)
	var types []string
	for n := range notes {
		types = append(types, n.Type)
		if n.Type == "condensation" && (n.Before != 800 || n.After != 300 || n.Conversation != "c1" || n.CostUSD != 0.25) {
			t.Errorf("%+v", n)
		}
		if n.Type == "error" && n.Code != precis.CodeUpstream {
			t.Errorf("%+v", n)
		}
	}
	if got := strings.Join(types, " "); got != "condensation overflow error spend" {
		t.Errorf("told of %q", got)
	}
	if c := hook.Counts(); c != (telemetry.Counts{Sent: 4}) {
		t.Errorf("%+v", c)
	}
}

func TestWebhookDropsWhatItCannotHold(t *testing.T) {
	begun, proceed := make(chan bool, 16), make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		begun <- true
		<-proceed
		w.WriteHeader(http.StatusNotFound)
	}))
	defer server.Close()
	hook := telemetry.NewWebhook(telemetry.WebhookOptions{URL: server.URL, Queue: 2})
	hook.Report(t.Context(), reduced)
	<-begun
	for range 5 {
		hook.Report(t.Context(), reduced)
	}
	if c := hook.Counts(); c.Waiting != 2 || c.Dropped != 3 {
		t.Errorf("%+v", c)
	}
	close(proceed)
	hook.Close(t.Context())
	if c := hook.Counts(); c.Failed != 3 || c.Sent != 0 {
		t.Errorf("what is refused is not tried again: %+v", c)
	}
}
