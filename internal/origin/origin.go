// Package origin protects a local server from pages of other sites. Start with [Handler], which
// should wrap all handlers of the server; it uses [Check].
package origin

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
)

// passed marks the context of a request that has passed a [Handler].
type passed struct{}

// Handler passes requests that [Check] accepts to next; refuse answers the others. A [Check] inside
// next then always succeeds: only the allowed names of the outermost handler count. Hosts returns
// these at each request; nil: none.
func Handler(hosts func() []string, refuse func(http.ResponseWriter, *http.Request, error),
	next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var allowed []string
		if hosts != nil {
			allowed = hosts()
		}
		if err := Check(r, allowed); err != nil {
			refuse(w, r, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), passed{}, true)))
	})
}

// Check returns why a request is refused for its Host or Origin, or because the browser reports
// that a page of another site makes it; nil when it is accepted. The error has a hint if allowing a
// host would help.
//
// Host must be a loopback name, an IP address or an allowed host; this blocks names made to resolve
// to this address (DNS rebinding). Origin, if present, must have the same host and port, or an
// allowed host. Allowed hosts are names without a port, in any case, or whole origins such as
// app://name. Requests for embedded content, such as images, have no Origin: if the browser reports
// another site, they are refused, unless the user follows a link.
func Check(r *http.Request, allowed []string) error {
	const op = "check origin"
	if r.Context().Value(passed{}) != nil {
		return nil
	}
	name := hostName(r.Host)
	if !isLocal(name) && !names(allowed, name) {
		return &precis.Error{Code: precis.CodeInvalid, Op: op,
			Err:  fmt.Errorf("%.80q is not a name of this gateway", name),
			Hint: "use localhost or an IP address, or allow the host"}
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		site := r.Header.Get("Sec-Fetch-Site")
		if (site == "cross-site" || site == "same-site") && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
			return precis.Errorf(precis.CodeInvalid, op, "a page of another site asks")
		}
		return nil
	}
	if slices.Contains(allowed, origin) {
		return nil
	}
	u, err := url.Parse(origin)
	if err == nil && u.Host != "" && u.User == nil &&
		(strings.EqualFold(u.Host, r.Host) || names(allowed, u.Hostname())) {
		return nil
	}
	return &precis.Error{Code: precis.CodeInvalid, Op: op, Err: fmt.Errorf("a page of %.80q asks", origin),
		Hint: "ask from the gateway's own pages, or allow the host"}
}

// hostName returns a host without its port.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	if inner, ok := strings.CutPrefix(host, "["); ok && strings.HasSuffix(inner, "]") {
		return strings.TrimSuffix(inner, "]")
	}
	return host
}

func isLocal(name string) bool {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	_, err := netip.ParseAddr(name)
	return err == nil
}

func names(allowed []string, name string) bool {
	return name != "" && slices.ContainsFunc(allowed,
		func(a string) bool { return strings.EqualFold(a, name) })
}
