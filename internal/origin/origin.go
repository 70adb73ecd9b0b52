// Package origin keeps pages of other sites away from a local server. Start with
// [Check].
package origin

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"precis"
)

// Check returns why a request is refused for its Host or Origin; nil when it is
// not. Host must be a loopback name, an IP address or one of the allowed hosts, which
// keeps out names that were made to resolve to this address (DNS rebinding). Origin,
// when there is one, must have the same host and port, or an allowed host. Allowed
// hosts are names without a port, in any case.
func Check(r *http.Request, allowed []string) error {
	const op = "check origin"
	name := hostName(r.Host)
	if !isLocal(name) && !names(allowed, name) {
		return &precis.Error{Code: precis.CodeInvalid, Op: op, Err: fmt.Errorf("%.80q is not a name of this gateway", name),
			Hint: "use localhost or an IP address, or allow the host"}
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return nil
	}
	u, err := url.Parse(origin)
	if err == nil && u.Host != "" && u.User == nil && (strings.EqualFold(u.Host, r.Host) || names(allowed, u.Hostname())) {
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
	return name != "" && slices.ContainsFunc(allowed, func(a string) bool { return strings.EqualFold(a, name) })
}
