package control

import (
	"context"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/profiles"
)

// Prefix begins all paths.
const Prefix = "/precis/api/v1"

// Options are the parts of the API. Gateway is required; zero values of the other fields are
// working defaults.
type Options struct {
	Gateway *gateway.Gateway
	// Owner returns the owner of the conversations that a request may see, and whether it may see
	// all owners' conversations and change global state. An error is answered with 401. Nil:
	// [gateway.Gateway.Caller].
	Owner func(*http.Request) (owner string, all bool, err error)
	// Hosts are additional host names of the API, without ports. Localhost and IP addresses are
	// always accepted.
	Hosts []string
	// Events are streamed by GET /events; nil: only events of the API itself are.
	Events *Events
	// Save changes settings as [profiles.Set.Patch] does, and writes the result to a
	// configuration file. Nil: settings cannot be written.
	Save func(ctx context.Context, profile string, p profiles.Patch) (profiles.Settings, error)
	// Started is the time the gateway started; zero: now.
	Started time.Time
	Now     func() time.Time // nil: time.Now
}

// api is the handler.
type api struct {
	o      Options
	mux    *http.ServeMux
	drafts conversation.Drafts
}

// New returns the API. It is safe for concurrent use.
func New(o Options) http.Handler {
	if o.Owner == nil {
		o.Owner = o.Gateway.Caller
	}
	if o.Events == nil {
		o.Events = NewEvents()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Started.IsZero() {
		o.Started = o.Now()
	}
	a := &api{o: o, mux: http.NewServeMux(), drafts: conversation.Drafts{Now: o.Now}}
	for _, rt := range routes {
		a.mux.Handle(rt.method+" "+Prefix+rt.path, a.handler(rt))
	}
	return a
}

// ServeHTTP answers a request.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if err := gateway.SameOrigin(r, a.o.Hosts); err != nil {
		fail(w, refusal{http.StatusForbidden, codeForbidden, err})
		return
	}
	if _, pattern := a.mux.Handler(r); pattern == "" {
		a.nowhere(w, r)
		return
	}
	a.mux.ServeHTTP(w, r)
}

// nowhere answers a request with an unknown path or method.
func (a *api) nowhere(w http.ResponseWriter, r *http.Request) {
	var allow []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPatch} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := a.mux.Handler(other); pattern != "" {
			allow = append(allow, method)
		}
	}
	if len(allow) == 0 {
		fail(w, refuse(http.StatusNotFound, "not_found", "there is no such path",
			"GET "+Prefix+"/openapi.json lists the paths"))
		return
	}
	w.Header().Set("Allow", strings.Join(allow, ", "))
	fail(w, refuse(http.StatusMethodNotAllowed, codeMethod, "use "+strings.Join(allow, " or "), ""))
}

// handler serves one route.
func (a *api) handler(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		owner, all, err := a.o.Owner(r)
		if err != nil {
			fail(w, refusal{http.StatusUnauthorized, codeUnauthorized, err})
			return
		}
		if all {
			owner = gateway.AllOwners
		} else if owner == gateway.AllOwners {
			owner = ""
		}
		c := &call{api: a, w: w, r: r, owner: owner, all: all}
		if err := c.check(rt); err != nil {
			fail(w, err)
			return
		}
		if rt.raw != nil {
			rt.raw(c)
			return
		}
		out, err := rt.do(c)
		if err != nil {
			fail(w, err)
			return
		}
		answer(w, rt.status(), out)
	})
}

// call is one request to the API.
type call struct {
	*api
	w     http.ResponseWriter
	r     *http.Request
	owner string // [gateway.AllOwners] when it may see all
	all   bool
}

// check refuses parameters and bodies that the route does not accept.
func (c *call) check(rt route) error {
	if rt.admin && !c.all {
		return refuse(http.StatusForbidden, codeForbidden, "this concerns everybody who uses the gateway",
			"ask with an admin key")
	}
	query, err := parseQuery(c.r)
	if err != nil {
		return err
	}
	for name := range query {
		if !slices.Contains(rt.query, name) {
			return invalid("read query", name, "there is no such parameter", "")
		}
	}
	if rt.method == http.MethodGet {
		return nil
	}
	if kind, _, _ := strings.Cut(c.r.Header.Get("Content-Type"),
		";"); !strings.EqualFold(strings.TrimSpace(kind), "application/json") {
		return refuse(http.StatusUnsupportedMediaType, codeMediaType, "send Content-Type: application/json",
			"")
	}
	return nil
}

// home holds the conversations that the caller may see.
func (c *call) home() conversation.Home { return c.o.Gateway.Home(c.owner) }

func (c *call) id() string { return c.r.PathValue("id") }

// computing are the POST operations that change no conversation of a client.
var computing = []string{"preview", "draft", "verify", "assemble", "compact", "gate", "digest", "expand"}

// Mutates reports whether a request to the API may change the gateway's data. It checks only the
// method and the path.
func Mutates(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	}
	return !slices.Contains(computing, path.Base(r.URL.Path))
}
