package upstream

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/precis-dev/precis/gateway/intent"
	"github.com/precis-dev/precis/gateway/unmanaged"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/chat"
	"github.com/precis-dev/precis/wire/responses"
)

// Route is the destination of a request.
type Route struct {
	Work       intent.Work
	Dialect    wire.Dialect // nil when passed through
	Upstream   *API
	Path       string           // at the upstream, below its URL
	Deployment string           // the model in the path; "": the path names no model
	Unknown    unmanaged.Reason // why the request is passed through unread
	escaped    bool             // Path is escaped as the client wrote it
}

// endpoint is the API function of a path.
type endpoint struct {
	work    intent.Work
	dialect wire.Dialect
}

// endpoints are the managed paths of APIs without a prefix before the version.
var endpoints = map[string]endpoint{
	"/v1/messages":              {intent.Turn, anthropic.Dialect{}},
	"/v1/messages/count_tokens": {intent.Count, anthropic.Dialect{}},
	"/v1/chat/completions":      {intent.Turn, chat.Dialect{}},
	"/v1/responses":             {intent.Turn, responses.Dialect{}},
	"/v1/responses/compact":     {intent.Compact, responses.Dialect{}},
}

// ending is the end of a model path after any prefix: of an Azure deployment, a product, or a
// router.
type ending struct {
	end string
	endpoint
	common bool // a common word, which also ends paths of other servers
}

var endings = []ending{
	{"/messages/count_tokens", endpoint{intent.Count, anthropic.Dialect{}}, true},
	{"/messages", endpoint{intent.Turn, anthropic.Dialect{}}, true},
	{"/chat/completions", endpoint{intent.Turn, chat.Dialect{}}, false},
	{"/responses/compact", endpoint{intent.Compact, responses.Dialect{}}, true},
	{"/responses", endpoint{intent.Turn, responses.Dialect{}}, true},
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

// Route finds the upstream of a request: the one its path begins with, else the first that speaks the
// dialect. Clients may omit the /v1. The list must not be empty.
func (l List) Route(r *http.Request) Route {
	p := path.Clean("/" + r.URL.Path)
	up, named, escaped := (*API)(nil), false, r.URL.EscapedPath()
	if name, rest, ok := strings.Cut(strings.TrimPrefix(p, "/"), "/"); ok {
		for i := range l {
			if u := &l[i]; u.Name == name && !isAzure(r.URL, u, "/"+rest) {
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
		up = l.For(e.dialect.Name())
	}
	if up == nil {
		up = l.For(dialectOf(r, p))
	}
	if up == nil {
		up = &l[0]
	}
	if named {
		escaped = strings.TrimPrefix(escaped, "/"+up.Name)
	}
	switch {
	case known && r.Method == http.MethodPost && (named || up.Speaks(e.dialect.Name())):
		if exact {
			return Route{Work: e.work, Dialect: e.dialect, Upstream: up, Path: full}
		}
		return Route{Work: e.work, Dialect: e.dialect, Upstream: up, Path: escaped, escaped: true,
			Deployment: deploymentIn(p)}
	case !strings.HasPrefix(escaped, "/v1") && (exact || strings.HasPrefix(full, "/v1/models")):
		escaped = "/v1" + escaped
	}
	unknown := unmanaged.Path
	if known && r.Method != http.MethodPost {
		unknown = unmanaged.Method
	}
	return Route{Work: intent.Pass, Upstream: up, Path: escaped, escaped: true, Unknown: unknown}
}

// isAzure reports whether a path that begins with the name of an upstream is a path of Azure, which
// begins with the word "openai".
func isAzure(u *url.URL, up *API, rest string) bool {
	return up.Name == "openai" && (strings.HasPrefix(rest, "/deployments/") ||
		u.Query().Has("api-version") || strings.HasSuffix(up.URL.Hostname(), ".azure.com"))
}

// HasDotSegments reports whether a path has segments "." or "..", even escaped or next to characters
// that some servers treat as a slash. An upstream may resolve such a path to another one than
// [List.Route] did.
func HasDotSegments(u *url.URL) bool {
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

// URL returns the upstream URL of the request.
func (r Route) URL(query string) *url.URL {
	if r.escaped {
		return r.Upstream.joinEscaped(r.Path, query)
	}
	return r.Upstream.Join(r.Path, query)
}

// RouteByURL returns the route of a request to a model at the server that its URL names; false for any
// other request. Programs talk to many servers, so a path that ends in a common word must also have
// a fitting beginning.
func RouteByURL(r *http.Request) (Route, bool) {
	if r.Method != http.MethodPost || r.URL == nil || r.URL.Host == "" {
		return Route{}, false
	}
	e, before, ok := endingOf(r.URL.Path)
	if !ok || e.common && !standsBeforeModels(before, e.dialect.Name()) {
		return Route{}, false
	}
	base := &url.URL{Scheme: r.URL.Scheme, Host: r.URL.Host, Path: before}
	up := &API{Name: r.URL.Host, URL: base, Native: NativeOf(r.URL.Host), whole: true}
	return Route{Work: e.work, Dialect: e.dialect, Upstream: up, Path: "/v1" + e.end,
		Deployment: deploymentIn(r.URL.Path)}, true
}

// standsBeforeModels reports whether the path before an endpoint belongs to a model API: it ends in
// a version or in the name of such an API.
func standsBeforeModels(before, dialect string) bool {
	if dialect == anthropic.Format {
		return strings.HasSuffix(before, "/v1")
	}
	last := path.Base(before)
	return version.MatchString("/"+last) || last == "openai" || last == "codex"
}
