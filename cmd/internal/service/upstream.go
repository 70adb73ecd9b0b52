package service

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"precis"
	"precis/cmd/internal/config"
	"precis/gateway"
)

// Upstreams returns the upstreams that a configuration names, and the part of
// them that is used as it is: their URLs end with "#", and no version is put
// between them and a path.
func Upstreams(g config.Gateway) (all []gateway.Upstream, bare []*url.URL, err error) {
	named := []struct{ name, url string }{
		{"anthropic", cmp.Or(g.Anthropic, g.Upstream, "https://api.anthropic.com")},
		{"openai", cmp.Or(g.OpenAI, g.Upstream, "https://api.openai.com")},
	}
	speaks := [][]string{{"anthropic"}, {"chat", "responses"}}
	for _, item := range g.Others {
		name, u, ok := strings.Cut(item, "=")
		if !ok {
			return nil, nil, precis.Errorf(precis.CodeInvalid, "read configuration", "gateway.others: %q is not NAME=URL", item)
		}
		named = append(named, struct{ name, url string }{name, u})
		speaks = append(speaks, nil)
	}
	for i, n := range named {
		text, asIs := strings.CutSuffix(n.url, "#")
		u, err := url.Parse(text)
		if err != nil {
			return nil, nil, precis.Errorf(precis.CodeInvalid, "read configuration", "the URL of the upstream %s cannot be understood", n.name)
		}
		all = append(all, gateway.Upstream{Name: n.name, URL: u, Dialects: speaks[i], Native: gateway.NativeOf(u.Host)})
		if asIs {
			bare = append(bare, u)
		}
	}
	return all, bare, nil
}

// Transport sends requests upstream: through the configured proxy, with the
// configured certificates, to URLs that are used as they are.
func Transport(g config.Gateway, bare []*url.URL) (http.RoundTripper, error) {
	const op = "read configuration"
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 512, 256
	t.DisableCompression = true // what comes is passed on as it is
	t.WriteBufferSize, t.ReadBufferSize = 64<<10, 32<<10
	switch g.Proxy {
	case "":
	case config.Off:
		t.Proxy = nil
	default:
		u, err := url.Parse(g.Proxy)
		if err != nil || u.Host == "" {
			return nil, precis.Errorf(precis.CodeInvalid, op, "gateway.proxy is no URL")
		}
		t.Proxy = http.ProxyURL(u)
	}
	if g.UpstreamCA != "" || g.UpstreamCert != "" {
		c, err := certificates(g)
		if err != nil {
			return nil, &precis.Error{Code: precis.CodeInvalid, Op: op, Err: err}
		}
		t.TLSClientConfig = c
	}
	if len(bare) == 0 {
		return t, nil
	}
	return bareURLs{t, bare}, nil
}

// certificates returns the TLS configuration for upstreams: the authorities that are
// trusted in addition to the system's, and the client certificate.
func certificates(g config.Gateway) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if g.UpstreamCA != "" {
		data, err := os.ReadFile(g.UpstreamCA)
		if err != nil {
			return nil, fmt.Errorf("gateway.upstream_ca_file: %w", err)
		}
		if c.RootCAs, err = x509.SystemCertPool(); err != nil {
			c.RootCAs = x509.NewCertPool()
		}
		if !c.RootCAs.AppendCertsFromPEM(data) {
			return nil, fmt.Errorf("gateway.upstream_ca_file: %s holds no certificate", g.UpstreamCA)
		}
	}
	if g.UpstreamCert != "" {
		pair, err := tls.LoadX509KeyPair(g.UpstreamCert, g.UpstreamKey)
		if err != nil {
			return nil, fmt.Errorf("gateway.upstream_cert_file: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// bareURLs takes the version out of paths below URLs that have none.
type bareURLs struct {
	next http.RoundTripper
	urls []*url.URL
}

// RoundTrip sends the request.
func (b bareURLs) RoundTrip(r *http.Request) (*http.Response, error) {
	for _, u := range b.urls {
		base := strings.TrimRight(u.Path, "/")
		rest, ok := strings.CutPrefix(r.URL.Path, base+"/v1/")
		if !ok || r.URL.Host != u.Host {
			continue
		}
		own := *r.URL
		own.Path, own.RawPath = base+"/"+rest, ""
		r = r.Clone(r.Context())
		r.URL = &own
		break
	}
	return b.next.RoundTrip(r)
}
