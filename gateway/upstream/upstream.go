// Package upstream finds where requests go: to which model API, at which URL, and what they ask for
// there. A [List] routes a request by its path; [RouteByURL] routes one that names its server itself.
package upstream

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/precis-dev/precis/gateway/polyfill"
	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/chat"
	"github.com/precis-dev/precis/wire/responses"
)

// API is a model API that requests are sent to.
type API struct {
	Name string   // in paths: /NAME/v1/…; letters, digits, dashes
	URL  *url.URL // base URL before /v1/…; a final /v1 is dropped
	// Dialects are the dialects it speaks; nil: all.
	Dialects []string
	// Native lists the features that need no polyfill; nil: as gateway.Options.Native.
	Native *polyfill.Native

	whole bool // no version is added between the URL and a path
}

// NativeOf returns the native features of the API at a host: all for Anthropic and OpenAI, nil for
// any other host.
func NativeOf(host string) *polyfill.Native {
	if host == "api.anthropic.com" || host == "api.openai.com" {
		return &polyfill.Native{ContextManagement: true, Compact: true}
	}
	return nil
}

// List are the upstreams of a gateway, in the order of preference.
type List []API

// For returns the first upstream that speaks a dialect; nil when none does.
func (l List) For(dialect string) *API {
	for i := range l {
		if l[i].Speaks(dialect) {
			return &l[i]
		}
	}
	return nil
}

// DefaultNames returns the names of the upstreams that are used without being named in a path.
func (l List) DefaultNames() (names []string) {
	for _, d := range Dialects {
		if i := slices.IndexFunc(l, func(u API) bool { return u.Speaks(d) }); i >= 0 {
			names = append(names, l[i].Name)
		}
	}
	return names
}

// Dialects are the dialects that the gateway knows.
var Dialects = []string{anthropic.Format, chat.Format, responses.Format}

// Check returns an error when a field is not valid, and drops a final /v1 of the URL.
func (u *API) Check() error {
	if u.URL == nil || u.URL.Host == "" || u.URL.Scheme != "http" && u.URL.Scheme != "https" {
		return fmt.Errorf("the URL is no http or https URL")
	}
	if u.URL.User != nil || u.URL.RawQuery != "" || u.URL.Fragment != "" {
		return fmt.Errorf("the URL has more than a host and a path")
	}
	if u.Name == "" || strings.ContainsFunc(u.Name, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		return fmt.Errorf("the name %q is not made of letters, digits and dashes", u.Name)
	}
	for _, d := range u.Dialects {
		if !slices.Contains(Dialects, d) {
			return fmt.Errorf("unknown dialect %q, want one of %v", d, Dialects)
		}
	}
	own := *u.URL
	own.Path = strings.TrimSuffix(strings.TrimRight(own.Path, "/"), "/v1")
	u.URL = &own
	return nil
}

// Speaks reports whether the upstream speaks a dialect.
func (u *API) Speaks(dialect string) bool {
	return u.Dialects == nil || slices.Contains(u.Dialects, dialect)
}

var version = lazyregexp.New(`/v[0-9]+[a-z0-9]*$`)

// Join returns the URL of a path. A base URL that ends with its own version replaces the /v1.
func (u *API) Join(p, query string) *url.URL {
	out := *u.URL
	if u.whole || version.MatchString(out.Path) {
		p = strings.TrimPrefix(p, "/v1")
	}
	out.Path = path.Join("/", out.Path, p)
	out.RawQuery = query
	return &out
}

// joinEscaped is [API.Join] for a path as a client wrote it, which stays unchanged. A client that
// uses the upstream's base path itself does not get it twice.
func (u *API) joinEscaped(p, query string) *url.URL {
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

// At returns the URL of a path of a [Route].
func (u *API) At(path string) *url.URL {
	return Route{Upstream: u, Path: path, escaped: !isEndpoint(path)}.URL("")
}

// isEndpoint reports whether the gateway itself chose the path; other paths are as clients wrote
// them.
func isEndpoint(p string) bool {
	_, ok := endpoints[p]
	return ok || p == "/v1/models"
}
