package gateway

import (
	"net/http"

	"precis"
	"precis/internal/origin"
)

// SameOrigin returns why a request is refused for its Host or Origin; nil when it is
// not. Host must be a loopback name, an IP address or one of the allowed hosts, which
// keeps out names that were made to resolve to this address (DNS rebinding). Origin,
// when there is one, must have the same host and port, or an allowed host. Allowed
// hosts are names without a port, in any case.
func SameOrigin(r *http.Request, allowed []string) error { return origin.Check(r, allowed) }

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
