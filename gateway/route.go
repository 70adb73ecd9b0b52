package gateway

import (
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"precis/wire"
	"precis/wire/anthropic"
	"precis/wire/chat"
	"precis/wire/responses"
)

// work is what is done with a request to an endpoint.
type work string

const (
	workTurn    work = "turn"    // a turn of a conversation
	workCount   work = "count"   // counts tokens of one
	workCompact work = "compact" // asks for a compaction
	workPass    work = "pass"    // anything else: passed through
)

// route is where a request goes.
type route struct {
	work     work
	dialect  wire.Dialect // nil when passed through
	upstream *Upstream
	path     string  // at the upstream, below its URL
	escaped  bool    // the path is as the client wrote it
	direct   *direct // of a request that came by [Gateway.RoundTripper]; nil: it came to the gateway
}

// endpoints are the managed paths.
var endpoints = map[string]struct {
	work    work
	dialect wire.Dialect
}{
	"/v1/messages":              {workTurn, anthropic.Dialect{}},
	"/v1/messages/count_tokens": {workCount, anthropic.Dialect{}},
	"/v1/chat/completions":      {workTurn, chat.Dialect{}},
	"/v1/responses":             {workTurn, responses.Dialect{}},
	"/v1/responses/compact":     {workCompact, responses.Dialect{}},
}

// route finds the upstream of a request: the one its path names first, else the
// first that speaks the dialect. Clients leave out the /v1, too.
func (g *Gateway) route(r *http.Request) route {
	p := path.Clean("/" + r.URL.Path)
	up, named, escaped := (*Upstream)(nil), false, r.URL.EscapedPath()
	if name, rest, ok := strings.Cut(strings.TrimPrefix(p, "/"), "/"); ok {
		for i := range g.o.Upstreams {
			if g.o.Upstreams[i].Name == name {
				up, p, named = &g.o.Upstreams[i], "/"+rest, true
			}
		}
	}
	full := p
	if !strings.HasPrefix(full, "/v1/") && full != "/v1" {
		full = "/v1" + p
	}
	e, ok := endpoints[full]
	if ok && r.Method == http.MethodPost {
		if up == nil {
			up = g.upstreamFor(e.dialect.Name())
		}
		if up != nil {
			return route{work: e.work, dialect: e.dialect, upstream: up, path: full}
		}
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
	if !strings.HasPrefix(escaped, "/v1") && (ok || strings.HasPrefix(full, "/v1/models")) {
		escaped = "/v1" + escaped
	}
	return route{work: workPass, upstream: up, path: escaped, escaped: true}
}

// climbs reports whether a path has segments "." or "..", also escaped, or what
// some servers take for a slash: an upstream may understand another path by it than
// the one its route was chosen by.
func climbs(u *url.URL) bool {
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

// dialectOf guesses the API that a request without a known path is for.
func dialectOf(r *http.Request, p string) string {
	switch {
	case r.Header.Get("Anthropic-Version") != "", r.Header.Get("X-Api-Key") != "", strings.HasPrefix(p, "/v1/messages"), strings.HasPrefix(p, "/api/"):
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

var version = regexp.MustCompile(`/v[0-9]+[a-z0-9]*$`)

// join returns the URL of a path. A base URL that ends with a version of its own
// takes the place of /v1.
func (u *Upstream) join(p, query string) *url.URL {
	out := *u.URL
	if u.whole || version.MatchString(out.Path) {
		p = strings.TrimPrefix(p, "/v1")
	}
	out.Path = path.Join("/", out.Path, p)
	out.RawQuery = query
	return &out
}

// joinEscaped is join for a path as a client wrote it, of which nothing is
// changed.
func (u *Upstream) joinEscaped(p, query string) *url.URL {
	out := *u.URL
	base := strings.TrimRight(out.EscapedPath(), "/")
	if version.MatchString(out.Path) {
		p = strings.TrimPrefix(p, "/v1")
	}
	out.RawPath = base + p
	if plain, err := url.PathUnescape(out.RawPath); err == nil {
		out.Path = plain
	}
	out.RawQuery = query
	return &out
}

func (u *Upstream) speaks(dialect string) bool {
	return u.Dialects == nil || slices.Contains(u.Dialects, dialect)
}
