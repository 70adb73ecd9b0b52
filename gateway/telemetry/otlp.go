package telemetry

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector sends spans to an OpenTelemetry collector by OTLP over HTTP, in binary form.
// OpenTelemetry's own exporter does the same, but links a gRPC client and server. It reads the same
// environment variables, the ones for traces first: OTEL_EXPORTER_OTLP_[TRACES_]HEADERS, TIMEOUT in
// milliseconds, COMPRESSION, CERTIFICATE, CLIENT_CERTIFICATE and CLIENT_KEY. It is safe for
// concurrent use.
type collector struct {
	url     string
	headers http.Header
	gzip    bool
	client  *http.Client
	pause   time.Duration // before the first retry
}

var _ otlptrace.Client = (*collector)(nil)

// newCollector returns a collector at a URL. env reads the environment.
func newCollector(at string, env func(string) string) (*collector, error) {
	of := func(name string) string {
		return cmp.Or(strings.TrimSpace(env("OTEL_EXPORTER_OTLP_TRACES_"+name)),
			strings.TrimSpace(env("OTEL_EXPORTER_OTLP_"+name)))
	}
	if u, err := url.Parse(at); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the endpoint is no http or https URL")
	}
	timeout := 10 * time.Second
	if ms, err := strconv.Atoi(of("TIMEOUT")); err == nil && ms > 0 {
		timeout = time.Duration(ms) * time.Millisecond
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}
	if usual, ok := http.DefaultTransport.(*http.Transport); ok {
		transport = usual.Clone()
	}
	var err error
	if transport.TLSClientConfig, err = collectorTLS(of("CERTIFICATE"), of("CLIENT_CERTIFICATE"),
		of("CLIENT_KEY")); err != nil {
		return nil, err
	}
	return &collector{
		url: at, headers: collectorHeaders(of("HEADERS")), gzip: of("COMPRESSION") == "gzip",
		client: &http.Client{Transport: transport, Timeout: timeout}, pause: 5 * time.Second,
	}, nil
}

// collectorHeaders parses a list such as "api-key=abc,team=my%20team". It skips invalid pairs.
func collectorHeaders(list string) http.Header {
	h := http.Header{}
	for pair := range strings.SplitSeq(list, ",") {
		name, value, ok := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if ok && name != "" && err == nil {
			h.Set(name, value)
		}
	}
	return h
}

// collectorTLS reads the certificate files; nil when none is given. Errors name the file.
func collectorTLS(roots, certificate, key string) (*tls.Config, error) {
	if roots == "" && (certificate == "" || key == "") {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if roots != "" {
		pem, err := os.ReadFile(roots)
		if err != nil {
			return nil, err
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate", roots)
		}
	}
	if certificate != "" && key != "" {
		own, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{own}
	}
	return c, nil
}

// Start has no work to do: connections are made when they are needed.
func (c *collector) Start(context.Context) error { return nil }

// Stop closes idle connections. Uploads end with their contexts.
func (c *collector) Stop(context.Context) error {
	c.client.CloseIdleConnections()
	return nil
}

// UploadTraces sends spans. It retries for at most a minute if the collector asks for a retry.
func (c *collector) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// The service's request has the same single field.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}
	if c.gzip {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = w.Write(body) // memory does not fail
		_ = w.Close()
		body = packed.Bytes()
	}
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval = c.pause
	_, err = backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, c.upload(ctx, body) },
		backoff.WithBackOff(pauses), backoff.WithMaxElapsedTime(time.Minute))
	return err
}

// upload sends a body once. An error is [backoff.Permanent] unless a retry may succeed.
func (c *collector) upload(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return backoff.Permanent(err)
	}
	req.Header = c.headers.Clone()
	req.Header.Set("Content-Type", "application/x-protobuf")
	req.Header.Set("User-Agent", "precis")
	if c.gzip {
		req.Header.Set("Content-Encoding", "gzip")
	}
	res, err := c.client.Do(req)
	if err != nil {
		var e *url.Error
		if errors.As(err, &e) && (e.Timeout() || e.Temporary()) {
			return err
		}
		return backoff.Permanent(err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // lets the connection be reused
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout:
		if s, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && s > 0 {
			return backoff.RetryAfter(s)
		}
		return fmt.Errorf("the collector answered %s", res.Status)
	}
	if res.StatusCode >= 300 {
		return backoff.Permanent(fmt.Errorf("the collector answered %s", res.Status))
	}
	return nil
}
