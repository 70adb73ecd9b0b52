package doctor

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/precis-dev/precis/cmd/internal/service"
	"github.com/precis-dev/precis/gateway"
)

// upstreams asks each upstream for its models. It sends a key only if the environment has one.
func (e *exam) upstreams(ctx context.Context) {
	const check = "upstream"
	all, bare, err := service.Upstreams(e.cfg.Gateway)
	if err != nil {
		e.add(check, Bad, "see gateway.upstream in precis config", "%v", err)
		return
	}
	t, err := service.Transport(e.cfg.Gateway, bare)
	if err != nil {
		e.add(check, Bad, "see gateway.upstream_cert_files in precis config", "%v", err)
		return
	}
	for _, u := range all {
		e.upstream(ctx, t, u)
	}
}

func (e *exam) upstream(ctx context.Context, t http.RoundTripper, u gateway.Upstream) {
	check := "upstream " + u.Name
	if u.URL.Host == "" || u.URL.Scheme != "http" && u.URL.Scheme != "https" {
		e.add(check, Bad, "give it as https://HOST", "its URL is no http or https URL")
		return
	}
	at := *u.URL
	at.Path = strings.TrimSuffix(strings.TrimRight(at.Path, "/"), "/v1") + "/v1/models"
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		e.add(check, Bad, "give it as https://HOST", "its URL cannot be used")
		return
	}
	keyed := e.credentials(req, u)
	start := time.Now()
	res, err := t.RoundTrip(req)
	if err != nil {
		e.unreachable(check, u.URL, err)
		return
	}
	defer res.Body.Close()
	took := time.Since(start).Round(time.Millisecond)
	where := at.Scheme + "://" + at.Host
	switch {
	case keyed != "" && (res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden):
		e.add(check, Bad, "check "+keyed, "%s refuses the key of %s (status %d)", where, keyed,
			res.StatusCode)
	case res.StatusCode >= 500:
		e.add(check, Warn, "try again later", "%s answers with status %d in %s", where, res.StatusCode, took)
	default:
		e.ok(check, "%s answers with status %d in %s", where, res.StatusCode, took)
	}
}

// credentials adds the key from the environment to a request, and returns the name of the variable.
func (e *exam) credentials(req *http.Request, u gateway.Upstream) string {
	switch u.Name {
	case "anthropic":
		req.Header.Set("Anthropic-Version", "2023-06-01")
		if key := e.Env("ANTHROPIC_API_KEY"); key != "" {
			req.Header.Set("X-Api-Key", key)
			return "ANTHROPIC_API_KEY"
		}
	case "openai":
		if key := e.Env("OPENAI_API_KEY"); key != "" {
			req.Header.Set("Authorization", "Bearer "+key)
			return "OPENAI_API_KEY"
		}
	}
	return ""
}

// unreachable reports the stage at which a connection failed.
func (e *exam) unreachable(check string, u *url.URL, err error) {
	var dns *net.DNSError
	var op *net.OpError
	switch text := err.Error(); {
	case errors.As(err, &dns):
		e.add(check, Bad, "check the name, the network and HTTPS_PROXY", "the name %s is not known",
			u.Hostname())
	case strings.Contains(text, "tls:"), strings.Contains(text, "x509:"),
		strings.Contains(text, "certificate"):
		e.add(check, Bad, "set NODE_EXTRA_CA_CERTS when a proxy of your network signs its own certificates",
			"%s: TLS failed: %v", u.Host, err)
	case errors.As(err, &op):
		e.add(check, Bad, "check the network and HTTPS_PROXY", "%s cannot be reached: %v", u.Host, op.Err)
	default:
		e.add(check, Bad, "check the network and HTTPS_PROXY", "%s cannot be reached: %v", u.Host, err)
	}
}
