// Package control serves the control API of a gateway over HTTP: conversations,
// their views and edits, condensing now, undoing, search, settings, and events as
// they happen. Use [New] and serve what it returns next to the gateway; an
// [Events] given to both reports requests.
//
// Paths begin with [Prefix]. Bodies are JSON, in both directions; openapi.json
// next to them is the whole contract. Errors are
// {"error":{"code","message","hint"}}.
//
// Who may see what is decided by [Options.Owner]. Requests are refused that a
// page of another host sends, and those by a host name that is not allowed, see
// [gateway.SameOrigin].
package control
