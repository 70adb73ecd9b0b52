package telemetry

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/policy"
)

// MetricsOptions are the parts of [Metrics]. The zero value works.
type MetricsOptions struct {
	Version string // of the program; "": unknown
	// Models is how many model names get labels of their own; the others become "other". 0 means
	// 100.
	Models int
}

// Metrics counts the gateway's activity for Prometheus. Make it with [NewMetrics]. It is safe for
// concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	models   names

	requests, kinds, unmanaged, unreducedTokens, forwarded, saved, usage, cost *prometheus.CounterVec
	steps, edits, own, alerts, retries, logs                                   *prometheus.CounterVec
	prepared, ownCost                                                          prometheus.Counter
	overhead, firstByte, latency                                               *prometheus.HistogramVec
}

// NewMetrics returns metrics with all counts at zero.
func NewMetrics(o MetricsOptions) *Metrics {
	if o.Models <= 0 {
		o.Models = 100
	}
	m := &Metrics{registry: prometheus.NewRegistry(), models: names{most: o.Models}}
	m.requests = m.counter("requests_total", "Requests answered.", "dialect", "model", "action", "status")
	m.kinds = m.counter("recognized_total",
		"Requests by how they were recognized, or why they were passed through.", "dialect", "kind")
	m.unmanaged = m.counter("unmanaged_total",
		"Requests that were not managed, by the reason that X-Precis-Unmanaged gives.", "dialect", "reason")
	m.unreducedTokens = m.counter("said_tokens_total",
		"Tokens of what clients sent, counted before anything was replaced.", "dialect", "model")
	m.forwarded = m.counter("forwarded_tokens_total", "Tokens of what was forwarded.", "dialect", "model")
	m.saved = m.counter("saved_tokens_total", "Tokens that clients sent and that were not forwarded.",
		"dialect", "model")
	m.usage = m.counter("usage_tokens_total", "Tokens as upstreams told them.", "dialect", "model", "kind")
	m.cost = m.counter("cost_usd_total", "US dollars that requests cost, as far as prices are known.",
		"dialect", "model")
	m.steps = m.counter("condensation_steps_total", "Rungs of the ladder that were tried.", "rung", "outcome",
		"code")
	m.edits = m.counter("edits_total", "Edits that came into force.", "kind", "rung", "trigger")
	m.own = m.counter("condensing_tokens_total", "Tokens of the model calls that condensing made.", "kind")
	m.alerts = m.counter("alerts_total", "Limits of spending that were near or reached.", "kind", "scope")
	m.retries = m.counter("overflow_retries_total",
		"Requests sent again with a smaller view after an upstream said that they were too long.", "dialect",
		"model")
	m.logs = m.counter("log_messages_total", "Warnings and errors logged, by their constant text.", "level",
		"message")
	m.prepared = m.single("prepared_condensations_total", "Condensations prepared in the background.")
	m.ownCost = m.single("condensing_cost_usd_total", "US dollars that condensing cost.")
	m.overhead = m.histogram("overhead_seconds", "Time before a request was first sent upstream.",
		[]float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30, 120}, "action")
	m.firstByte = m.histogram("first_byte_seconds", "Time until the first byte of the answer was sent on.",
		[]float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300}, "dialect")
	m.latency = m.histogram("request_seconds", "Time until the answer was complete.",
		[]float64{.1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600}, "dialect")
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "precis_build_info", Help: "The program."},
		[]string{"version"})
	info.WithLabelValues(orNone(o.Version)).Set(1)
	m.registry.MustRegister(info, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *Metrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "precis_" + name, Help: help}, labels)
	m.registry.MustRegister(c)
	return c
}

func (m *Metrics) single(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: "precis_" + name, Help: help})
	m.registry.MustRegister(c)
	return c
}

func (m *Metrics) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "precis_" + name, Help: help,
		Buckets: buckets}, labels)
	m.registry.MustRegister(h)
	return h
}

// Handler serves the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Turn counts a request.
func (m *Metrics) Turn(_ context.Context, t gateway.Turn) {
	dialect, model := orNone(t.Dialect), m.models.name(t.Model)
	m.requests.WithLabelValues(dialect, model, orNone(t.Action), class(t.Status)).Inc()
	m.kinds.WithLabelValues(dialect, orNone(t.Kind)).Inc()
	if t.Unmanaged != "" {
		m.unmanaged.WithLabelValues(dialect, string(t.Unmanaged)).Inc()
	}
	if r := t.Report; r != nil {
		said, sent := max(r.Unreduced, r.Before.Tokens), r.After.Tokens
		m.unreducedTokens.WithLabelValues(dialect, model).Add(float64(said))
		m.forwarded.WithLabelValues(dialect, model).Add(float64(sent))
		m.saved.WithLabelValues(dialect, model).Add(float64(max(said-sent, 0)))
	}
	for kind, n := range usageOf(t.Usage) {
		if n > 0 {
			m.usage.WithLabelValues(dialect, model, kind).Add(float64(n))
		}
	}
	if t.CostUSD > 0 {
		m.cost.WithLabelValues(dialect, model).Add(t.CostUSD)
	}
	if t.Retries > 0 {
		m.retries.WithLabelValues(dialect, model).Add(float64(t.Retries))
	}
	observe(m.overhead.WithLabelValues(orNone(t.Action)), t.Overhead)
	observe(m.firstByte.WithLabelValues(dialect), t.FirstByte)
	observe(m.latency.WithLabelValues(dialect), t.Took)
}

// observe records a duration; 0 means that there was none, and is not recorded.
func observe(o prometheus.Observer, d time.Duration) {
	if d > 0 {
		o.Observe(d.Seconds())
	}
}

func usageOf(u precis.Usage) map[string]int {
	return map[string]int{"input": u.Input, "output": u.Output, "cache_read": u.CacheRead,
		"cache_write": u.CacheWrite}
}

// Report counts the steps of a pass over a conversation.
func (m *Metrics) Report(_ context.Context, r policy.Report) {
	for _, s := range r.Steps {
		m.steps.WithLabelValues(s.Rung, string(s.Outcome), orNone(string(s.Code))).Inc()
		if s.Call == nil {
			continue
		}
		for kind, n := range usageOf(s.Call.Usage) {
			if n > 0 {
				m.own.WithLabelValues(kind).Add(float64(n))
			}
		}
	}
	if cost := r.CostUSD(); cost > 0 {
		m.ownCost.Add(cost)
	}
	if r.TriggeredBy == precis.TriggeredBackground && len(r.Edits) > 0 {
		m.prepared.Inc()
	}
}

// Edit counts an edit that came into force.
func (m *Metrics) Edit(_ context.Context, e precis.Edit) {
	m.edits.WithLabelValues(string(e.Kind), orNone(e.Report.Rung), orNone(e.Report.Trigger)).Inc()
}

// Alert counts an alert.
func (m *Metrics) Alert(_ context.Context, a policy.Alert) {
	m.alerts.WithLabelValues(a.Kind, a.Scope).Inc()
}
