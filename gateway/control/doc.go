// Package control serves the control API of a gateway over HTTP: conversations, their views and
// edits, condensing, undoing, search, settings, and live events. Use [New] and serve its handler
// next to the gateway. An [Events] given to both reports requests.
//
// Paths begin with [Prefix]. Bodies are JSON, in both directions; openapi.json under Prefix is
// the whole contract. Errors are {"error":{"code","message","hint"}}.
//
// [Options.Owner] decides on access. Requests from pages of other hosts, and to a host name that is
// not allowed, are refused, see [gateway.SameOrigin].
package control
