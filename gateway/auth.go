package gateway

import (
	"net/http"

	"github.com/precis-dev/precis/gateway/accounts"
	"github.com/precis-dev/precis/internal/origin"
)

// Auth determines who may use a gateway and who owns a conversation.
type Auth = accounts.Auth

// SameOrigin returns why a request is refused for its Host or Origin; nil when it is accepted. Host
// must be a loopback name, an IP address or an allowed host; this blocks names made to resolve to
// this address (DNS rebinding). Origin, if present, must have the same host and port, or an allowed
// host. Allowed hosts are names without a port, in any case.
func SameOrigin(r *http.Request, allowed []string) error { return origin.Check(r, allowed) }

// Caller returns the owner of the conversations that a request to the control API may see. Without
// gateway keys, and for an admin's key, these are all conversations (all is true); otherwise they
// are the conversations of the key's owner. The error is [precis.CodeInvalid] for a request without
// a key of this gateway.
func (g *Gateway) Caller(r *http.Request) (owner string, all bool, err error) {
	if !g.o.Auth.Asks() {
		return AllOwners, true, nil
	}
	if name, ok := g.o.Auth.Name(r); ok && (*g.admins.Load())[name] {
		return AllOwners, true, nil
	}
	owner, err = g.o.Auth.Owner(r)
	return owner, false, err
}

// SetAdmins replaces the admins, by the names of their keys, from the next request
// on. The map is not to be changed afterwards.
func (g *Gateway) SetAdmins(admins map[string]bool) { g.admins.Store(&admins) }
