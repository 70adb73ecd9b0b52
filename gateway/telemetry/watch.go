package telemetry

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/registry"
)

// Watched are the sources of metrics that are read at each scrape. Nil fields are skipped.
type Watched struct {
	Status  func() gateway.Status
	Store   func(context.Context) error // makes a small request to the store
	Webhook *Webhook
}

// Watch adds metrics that are read at each scrape. It must be called at most once.
func (m *Metrics) Watch(w Watched) { m.registry.MustRegister(&watch{m: m, w: w}) }

type watch struct {
	m *Metrics
	w Watched
}

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("precis_"+name, help, labels, nil)
}

var (
	descActive  = gauge("active_requests", "Requests under way.")
	descConvs   = gauge("conversations_in_memory", "Conversations in memory.")
	descLines   = gauge("memory_lines", "Ways through conversations in memory.")
	descBytes   = gauge("memory_bytes", "What the conversations in memory use, about.")
	descLimit   = gauge("memory_limit_bytes", "What the conversations in memory may use.")
	descDropped = gauge("memory_dropped_total", "Ways through conversations that had to leave memory.")
	descWindow  = gauge("learned_window_tokens", "Context windows that overflow errors told.", "upstream",
		"model")
	descStore  = gauge("store_up", "1 when the store answers.")
	descKeeps  = gauge("store_keeps", "1 when the store keeps what is new.")
	descFailed = gauge("store_last_error_seconds",
		"When the store last failed, in seconds since 1970; 0: never.")
	descWaits   = gauge("store_waiting_conversations", "Conversations that wait to be stored.")
	descWaitsOf = gauge("store_waiting_bytes", "Messages that wait to be stored, in bytes, about.")
	descEdits   = gauge("store_waiting_edits", "Edits in force that are not recorded yet.")
	descBooked  = gauge("store_waiting_ledger_lines", "Ledger lines that wait to be stored.")
	descLost    = gauge("store_lost_total", "What was not stored, since there was no room for it any more.",
		"what")
	descQueue    = gauge("webhook_queue", "Posts that wait.")
	descSent     = gauge("webhook_sent_total", "Posts that were taken.")
	descUnsent   = gauge("webhook_failed_total", "Posts that were given up after retries.")
	descOverfull = gauge("webhook_dropped_total", "Posts that were dropped because too many waited.")
)

// Describe sends no description, because the metrics depend on the sources.
func (w *watch) Describe(chan<- *prometheus.Desc) {}

// Collect reads the metrics.
func (w *watch) Collect(out chan<- prometheus.Metric) {
	send := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, kind, v, labels...)
	}
	if w.w.Status != nil {
		s := w.w.Status()
		send(descActive, prometheus.GaugeValue, float64(s.Active))
		send(descConvs, prometheus.GaugeValue, float64(s.Conversations))
		send(descLines, prometheus.GaugeValue, float64(s.Memory.Lines))
		send(descBytes, prometheus.GaugeValue, float64(s.Memory.Bytes))
		send(descLimit, prometheus.GaugeValue, float64(s.Memory.Limit))
		send(descDropped, prometheus.CounterValue, float64(s.Memory.Dropped))
		w.stores(s.Store, send)
		seen := map[[2]string]bool{}
		for _, l := range s.Windows {
			key := [2]string{l.Upstream, w.m.models.name(l.Model)}
			if !seen[key] { // the names beyond the limit share one label
				seen[key] = true
				send(descWindow, prometheus.GaugeValue, float64(l.Tokens), key[0], key[1])
			}
		}
	}
	if w.w.Store != nil {
		up := 1.0
		if w.w.Store(context.Background()) != nil {
			up = 0
		}
		send(descStore, prometheus.GaugeValue, up)
	}
	if w.w.Webhook != nil {
		c := w.w.Webhook.Counts()
		send(descQueue, prometheus.GaugeValue, float64(c.Waiting))
		send(descSent, prometheus.CounterValue, float64(c.Sent))
		send(descUnsent, prometheus.CounterValue, float64(c.Failed))
		send(descOverfull, prometheus.CounterValue, float64(c.Dropped))
	}
}

// stores sends the condition of the store.
func (w *watch) stores(s registry.StoreInfo,
	send func(*prometheus.Desc, prometheus.ValueType, float64, ...string)) {
	keeps, failed := 1.0, 0.0
	if !s.Failing.IsZero() {
		keeps = 0
	}
	if !s.Failed.IsZero() {
		failed = float64(s.Failed.Unix())
	}
	send(descKeeps, prometheus.GaugeValue, keeps)
	send(descFailed, prometheus.GaugeValue, failed)
	send(descWaits, prometheus.GaugeValue, float64(s.Waiting.Conversations))
	send(descWaitsOf, prometheus.GaugeValue, float64(s.Waiting.Bytes))
	send(descEdits, prometheus.GaugeValue, float64(s.Waiting.Edits))
	send(descBooked, prometheus.GaugeValue, float64(s.Waiting.LedgerLines))
	send(descLost, prometheus.CounterValue, float64(s.Lost.Conversations), "conversations")
	send(descLost, prometheus.CounterValue, float64(s.Lost.LedgerLines), "ledger_lines")
}

// Logs returns a handler that counts warnings and errors on their way to next. Messages are
// constants of the program; variable data is in attributes, which are not counted.
func (m *Metrics) Logs(next slog.Handler) slog.Handler {
	return &counting{Handler: next, m: m, messages: &names{most: 64}}
}

type counting struct {
	slog.Handler
	m        *Metrics
	messages *names
}

// Enabled reports whether a record is counted here or accepted by next.
func (c *counting) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn || c.Handler.Enabled(ctx, l)
}

// Handle counts a record and passes it to next.
func (c *counting) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn {
		c.m.logs.WithLabelValues(r.Level.String(), c.messages.name(r.Message)).Inc()
	}
	if !c.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return c.Handler.Handle(ctx, r)
}

// WithAttrs returns a handler with attributes.
func (c *counting) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &counting{c.Handler.WithAttrs(attrs), c.m, c.messages}
}

// WithGroup returns a handler with a group.
func (c *counting) WithGroup(name string) slog.Handler {
	return &counting{c.Handler.WithGroup(name), c.m, c.messages}
}
