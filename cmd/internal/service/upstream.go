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

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/upstream"
)

// Upstreams returns the upstreams of a configuration, and the bare ones among their URLs: these end
// with "#", and no version is added between them and a path.
func Upstreams(g config.Gateway) (all []gateway.Upstream, bare []*url.URL, err error) {
	named := []struct{ name, url string }{
		{"anthropic", cmp.Or(g.Anthropic, g.Upstream, "https://api.anthropic.com")},
		{"openai", cmp.Or(g.OpenAI, g.Upstream, "https://api.openai.com")},
	}
	speaks := [][]string{{"anthropic"}, {"chat", "responses"}}
	for _, item := range g.Others {
		name, u, ok := strings.Cut(item, "=")
		if !ok {
			return nil, nil, precis.Errorf(precis.CodeInvalid, "read configuration",
				"gateway.others: %q is not NAME=URL", item)
		}
		named = append(named, struct{ name, url string }{name, u})
		speaks = append(speaks, nil)
	}
	for i, n := range named {
		text, asIs := strings.CutSuffix(n.url, "#")
		u, err := url.Parse(text)
		if err != nil {
			return nil, nil, precis.Errorf(precis.CodeInvalid, "read configuration",
				"gateway.upstream, gateway.others: the URL of %s cannot be understood", n.name)
		}
		all = append(all, gateway.Upstream{Name: n.name, URL: u, Dialects: speaks[i],
			Native: upstream.NativeOf(u.Host)})
		if asIs {
			bare = append(bare, u)
		}
	}
	return all, bare, nil
}

// Transport sends requests upstream through the configured proxy, with the configured certificates;
// bare are URLs to use without a version.
func Transport(g config.Gateway, bare []*url.URL) (http.RoundTripper, error) {
	const op = "read configuration"
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 512, 256
	t.DisableCompression = true // relay bodies as received
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
	c, err := certificates(g)
	if err != nil {
		return nil, &precis.Error{Code: precis.CodeInvalid, Op: op, Err: err}
	}
	t.TLSClientConfig = c
	if len(bare) == 0 {
		return t, nil
	}
	return bareURLs{t, bare}, nil
}

// authorities are environment variables with additional certificate authorities, such as a company
// proxy's, for agent programs and their libraries. The gateway honors them because it calls the
// APIs in their place.
var authorities = []string{"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
	"AWS_CA_BUNDLE", "CODEX_CA_CERTIFICATE"}

// certificates returns the TLS configuration for upstreams: additional trusted authorities, and the
// client certificate. An unusable file that only the environment names is ignored.
func certificates(g config.Gateway) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	add := func(data []byte) bool {
		if c.RootCAs == nil {
			var err error
			if c.RootCAs, err = x509.SystemCertPool(); err != nil {
				c.RootCAs = x509.NewCertPool()
			}
		}
		return c.RootCAs.AppendCertsFromPEM(data)
	}
	if g.UpstreamCA != "" {
		data, err := os.ReadFile(g.UpstreamCA)
		if err != nil {
			return nil, fmt.Errorf("gateway.upstream_ca_file: %w", err)
		}
		if !add(data) {
			return nil, fmt.Errorf("gateway.upstream_ca_file: %s holds no certificate", g.UpstreamCA)
		}
	}
	for _, name := range authorities {
		if data, err := archive.ReadFile(os.Getenv(name)); os.Getenv(name) != "" && err == nil {
			add(data)
		}
	}
	if g.UpstreamCert != "" {
		pair, err := tls.LoadX509KeyPair(g.UpstreamCert, g.UpstreamKey)
		if err != nil {
			return nil, fmt.Errorf("gateway.upstream_cert_files: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// bareURLs removes the version from paths below bare URLs.
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
