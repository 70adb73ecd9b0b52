package gateway

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

// SameOrigin returns why a request is refused for its Host or Origin; nil when it is
// not. Host must be a loopback name, an IP address or one of the allowed hosts, which
// keeps out names that were made to resolve to this address (DNS rebinding). Origin,
// when there is one, must have the same host and port, or an allowed host. Allowed
// hosts are names without a port, in any case.
func SameOrigin(r *http.Request, allowed []string) error {
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

// Caller says whose conversations a request to the control API may see: with no
// gateway keys those of everybody, for whoever reaches the gateway is its user;
// for an admin's key those of everybody, too; else those of the key's owner. The
// error is [precis.CodeInvalid] for a request without a key of this gateway.
func (g *Gateway) Caller(r *http.Request) (owner string, all bool, err error) {
	if len(g.o.Auth.Keys) == 0 {
		return AllOwners, true, nil
	}
	if name, ok := g.o.Auth.key(r); ok && (*g.admins.Load())[name] {
		return AllOwners, true, nil
	}
	owner, err = g.o.Auth.owner(r)
	return owner, false, err
}

// SetAdmins replaces the admins, by the names of their keys, from the next request
// on. The map is not to be changed afterwards.
func (g *Gateway) SetAdmins(admins map[string]bool) { g.admins.Store(&admins) }

// StatusOf returns the HTTP status of an error.
func StatusOf(err error) int {
	if err == nil {
		return http.StatusOK
	}
	return status[precis.CodeOf(err)]
}
