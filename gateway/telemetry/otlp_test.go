package telemetry

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// A collector gets the spans with the headers of the environment, packed where it
// asks for that, and again while it says that it is busy.
func TestSpansReachACollector(t *testing.T) {
	for _, compression := range []string{"", "gzip"} {
		var tries atomic.Int32
		got := make(chan *tracepb.TracesData, 1)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if tries.Add(1) == 1 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			if r.URL.Path != "/base/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" || r.Header.Get("Api-Key") != "a b" || r.Header.Get("Team") != "ours" {
				t.Errorf("%s %v", r.URL, r.Header)
			}
			body := io.Reader(r.Body)
			if compression == "gzip" {
				body, _ = gzip.NewReader(r.Body)
			}
			raw, err := io.ReadAll(body)
			var data tracepb.TracesData
			if err != nil || proto.Unmarshal(raw, &data) != nil {
				t.Errorf("no spans: %v", err)
			}
			got <- &data
		}))
		env := map[string]string{
			"OTEL_EXPORTER_OTLP_HEADERS": "team=theirs", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "api-key=a%20b, team = ours,nonsense",
			"OTEL_EXPORTER_OTLP_COMPRESSION": compression,
		}
		c, err := newCollector(s.URL+"/base/v1/traces", func(name string) string { return env[name] })
		if err != nil {
			t.Fatal(err)
		}
		c.pause = time.Nanosecond
		exporter, err := otlptrace.New(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		p := sdk.NewTracerProvider(sdk.WithSyncer(exporter))
		_, span := p.Tracer("test").Start(t.Context(), "a span")
		span.End()
		if name := (<-got).ResourceSpans[0].ScopeSpans[0].Spans[0].Name; name != "a span" || tries.Load() != 2 {
			t.Errorf("%q after %d tries", name, tries.Load())
		}
		if err := p.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		s.Close()
	}
}

// What a collector refuses is not sent again, and what cannot be used is said at once.
func TestCollectorsThatRefuse(t *testing.T) {
	var tries atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		tries.Add(1)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer s.Close()
	none := func(string) string { return "" }
	c, err := newCollector(s.URL, none)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.UploadTraces(t.Context(), nil); err == nil || tries.Load() != 1 {
		t.Errorf("%v after %d tries", err, tries.Load())
	}
	for _, at := range []string{"", "nonsense", "ftp://host/v1/traces", "http://"} {
		if _, err := newCollector(at, none); err == nil {
			t.Errorf("%q is an endpoint", at)
		}
	}
	if _, err := newCollector(s.URL, func(name string) string {
		return map[string]string{"OTEL_EXPORTER_OTLP_CERTIFICATE": "/no/such/file"}[name]
	}); err == nil {
		t.Error("a certificate that is not there is no matter")
	}
}
