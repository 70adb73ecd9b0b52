package gateway

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/precis-dev/precis/gateway/intent"
	"github.com/precis-dev/precis/gateway/unmanaged"
	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/chat"
	"github.com/precis-dev/precis/wire/responses"
)

const (
	workTurn, workCount   = intent.Turn, intent.Count
	workCompact, workPass = intent.Compact, intent.Pass
)

// route is the destination of a request.
type route struct {
	work       intent.Work
	dialect    wire.Dialect // nil when passed through
	upstream   *Upstream
	path       string           // at the upstream, below its URL
	escaped    bool             // the path is escaped as the client wrote it
	deployment string           // the model in the path; "": the path names no model
	unknown    unmanaged.Reason // why the request is passed through unread
	direct     *direct          // of a request through [Gateway.RoundTripper]; nil: it came over HTTP
}

// endpoint is the API function of a path.
type endpoint struct {
	work    intent.Work
	dialect wire.Dialect
}

// endpoints are the managed paths of APIs without a prefix before the version.
var endpoints = map[string]endpoint{
	"/v1/messages":              {workTurn, anthropic.Dialect{}},
	"/v1/messages/count_tokens": {workCount, anthropic.Dialect{}},
	"/v1/chat/completions":      {workTurn, chat.Dialect{}},
	"/v1/responses":             {workTurn, responses.Dialect{}},
	"/v1/responses/compact":     {workCompact, responses.Dialect{}},
}

// ending is the end of a model path after any prefix: of an Azure deployment, a product, or a
// router.
type ending struct {
	end string
	endpoint
	common bool // a common word, which also ends paths of other servers
}

var endings = []ending{
	{"/messages/count_tokens", endpoint{workCount, anthropic.Dialect{}}, true},
	{"/messages", endpoint{workTurn, anthropic.Dialect{}}, true},
	{"/chat/completions", endpoint{workTurn, chat.Dialect{}}, false},
	{"/responses/compact", endpoint{workCompact, responses.Dialect{}}, true},
	{"/responses", endpoint{workTurn, responses.Dialect{}}, true},
}

// endingOf returns the endpoint that the end of a path names, and the path before it. It returns
// false for a path of another kind.
func endingOf(p string) (e ending, before string, ok bool) {
	for _, e := range endings {
		if before, ok := strings.CutSuffix(p, e.end); ok {
			return e, before, e.dialect.Name() != anthropic.Format || !ofThread(before)
		}
	}
	return ending{}, "", false
}

// ofThread reports whether the path before "/messages" names a thread of OpenAI's Assistants API; a
// request there adds a message to the thread.
func ofThread(before string) bool {
	return path.Base(path.Dir(before)) == "threads"
}

// deploymentIn returns the model in a path of Azure, where the body may lack it.
func deploymentIn(p string) string {
	_, rest, _ := strings.Cut(p, "/deployments/")
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// route finds the upstream of a request: the one its path begins with, else the first that speaks
// the dialect. Clients may omit the /v1.
func (g *Gateway) route(r *http.Request) route {
	p := path.Clean("/" + r.URL.Path)
	up, named, escaped := (*Upstream)(nil), false, r.URL.EscapedPath()
	if name, rest, ok := strings.Cut(strings.TrimPrefix(p, "/"), "/"); ok {
		for i := range g.o.Upstreams {
			if u := &g.o.Upstreams[i]; u.Name == name && !isAzure(r.URL, u, "/"+rest) {
				up, p, named = u, "/"+rest, true
			}
		}
	}
	full := p
	if !strings.HasPrefix(full, "/v1/") && full != "/v1" {
		full = "/v1" + p
	}
	e, exact := endpoints[full]
	known := exact
	if !exact {
		var end ending
		end, _, known = endingOf(p)
		e = end.endpoint
	}
	if up == nil && known {
		up = g.upstreamFor(e.dialect.Name())
	}
	if up == nil {
		up = g.upstreamFor(dialectOf(r, p))
	}
	if up == nil {
		up = &g.o.Upstreams[0]
	}
	if named {
		escaped = strings.TrimPrefix(escaped, "/"+up.Name)
	}
	switch {
	case known && r.Method == http.MethodPost && (named || up.speaks(e.dialect.Name())):
		if exact {
			return route{work: e.work, dialect: e.dialect, upstream: up, path: full}
		}
		return route{work: e.work, dialect: e.dialect, upstream: up, path: escaped, escaped: true,
			deployment: deploymentIn(p)}
	case !strings.HasPrefix(escaped, "/v1") && (exact || strings.HasPrefix(full, "/v1/models")):
		escaped = "/v1" + escaped
	}
	unknown := unmanaged.Path
	if known && r.Method != http.MethodPost {
		unknown = unmanaged.Method
	}
	return route{work: workPass, upstream: up, path: escaped, escaped: true, unknown: unknown}
}

// isAzure reports whether a path that begins with the name of an upstream is a path of Azure, which
// begins with the word "openai".
func isAzure(u *url.URL, up *Upstream, rest string) bool {
	return up.Name == "openai" && (strings.HasPrefix(rest, "/deployments/") ||
		u.Query().Has("api-version") || strings.HasSuffix(up.URL.Hostname(), ".azure.com"))
}

// isEndpoint reports whether the gateway itself chose the path; other paths are as clients wrote
// them.
func isEndpoint(p string) bool {
	_, ok := endpoints[p]
	return ok || p == "/v1/models"
}

// hasDotSegments reports whether a path has segments "." or "..", even escaped or next to characters that
// some servers treat as a slash. An upstream may resolve such a path to another one than the router
// did.
func hasDotSegments(u *url.URL) bool {
	p := u.Path
	for range 3 { // some servers decode more than once
		for segment := range strings.FieldsFuncSeq(p, func(r rune) bool { return r == '/' || r == '\\' }) {
			if segment == "." || segment == ".." {
				return true
			}
		}
		plain, err := url.PathUnescape(p)
		if err != nil || plain == p {
			break
		}
		p = plain
	}
	return false
}

// dialectOf guesses the API of a request without a known path.
func dialectOf(r *http.Request, p string) string {
	switch {
	case r.Header.Get("Anthropic-Version") != "", r.Header.Get("X-Api-Key") != "",
		strings.HasPrefix(p, "/v1/messages"), strings.HasPrefix(p, "/api/"):
		return anthropic.Format
	case strings.HasPrefix(p, "/v1/responses"):
		return responses.Format
	}
	return chat.Format
}

func (g *Gateway) upstreamFor(dialect string) *Upstream {
	for i := range g.o.Upstreams {
		if g.o.Upstreams[i].speaks(dialect) {
			return &g.o.Upstreams[i]
		}
	}
	return nil
}

var version = lazyregexp.New(`/v[0-9]+[a-z0-9]*$`)

// join returns the URL of a path. A base URL that ends with its own version replaces the /v1.
func (u *Upstream) join(p, query string) *url.URL {
	out := *u.URL
	if u.whole || version.MatchString(out.Path) {
		p = strings.TrimPrefix(p, "/v1")
	}
	out.Path = path.Join("/", out.Path, p)
	out.RawQuery = query
	return &out
}

// joinEscaped is join for a path as a client wrote it, which stays unchanged. A client that uses
// the upstream's base path itself does not get it twice.
func (u *Upstream) joinEscaped(p, query string) *url.URL {
	out := *u.URL
	base := strings.TrimRight(out.EscapedPath(), "/")
	switch {
	case base != "" && strings.HasPrefix(p, base+"/"):
		base = ""
	case u.whole || version.MatchString(out.Path):
		p = strings.TrimPrefix(p, "/v1")
	}
	out.RawPath = base + p
	if plain, err := url.PathUnescape(out.RawPath); err == nil {
		out.Path = plain
	}
	out.RawQuery = query
	return &out
}

// url returns the upstream URL of the request.
func (r route) url(query string) *url.URL {
	if r.escaped {
		return r.upstream.joinEscaped(r.path, query)
	}
	return r.upstream.join(r.path, query)
}

func (u *Upstream) speaks(dialect string) bool {
	return u.Dialects == nil || slices.Contains(u.Dialects, dialect)
}
