package gateway

import (
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
)

// Headers of requests, for the gateway alone.
const (
	headerBypass  = "X-Precis-Bypass"       // "true": pass this request through
	headerProfile = "X-Precis-Profile"      // the profile to use
	headerFocus   = "X-Precis-Focus"        // what a summary should pay attention to
	headerConv    = "X-Precis-Conversation" // in requests: a name to find it by; in responses: its ID
)

// Headers of responses.
const (
	headerAction   = "X-Precis-Action"        // what was done
	headerBefore   = "X-Precis-Tokens-Before" // of what the client sent
	headerAfter    = "X-Precis-Tokens-After"  // of what was forwarded
	headerWindow   = "X-Precis-Window"        // tokens, and where the number comes from
	headerOverhead = "X-Precis-Overhead-Ms"   // spent before the request was forwarded
	headerMatch    = "X-Precis-Match"         // how the conversation was recognized
	headerNode     = "X-Precis-Node"          // where this request ends
	headerParent   = "X-Precis-Parent"        // where the request ended that it continues
	headerRetries  = "X-Precis-Retries"       // after overflows
	headerError    = "X-Precis-Error"         // the code, when the error is the gateway's own
)

// Actions, as headers and metrics tell them.
const (
	actionNone    = "none"    // forwarded as it came
	actionView    = "view"    // forwarded with edits made earlier
	actionReduced = "reduced" // reduced for this request
	actionPass    = "pass"    // passed through: no turn of a conversation
	actionBypass  = "bypass"  // passed through on request
	actionOpen    = "open"    // passed through: precis failed
	actionAnswer  = "answer"  // answered by the gateway itself
)

// hopByHop are headers of one connection, RFC 9110 section 7.6.1.
var hopByHop = []string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// stripOwn takes the gateway's own headers out.
func stripOwn(h http.Header) {
	for name := range h {
		if strings.HasPrefix(name, "X-Precis-") {
			delete(h, name)
		}
	}
}

// stripHops takes out the headers of one connection.
func stripHops(h http.Header) {
	for _, field := range h["Connection"] {
		for name := range strings.SplitSeq(field, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range hopByHop {
		h.Del(name)
	}
}

var version = regexp.MustCompile(`/v[0-9]+[a-z0-9]*$`)

// join returns the URL of a path. A base URL that ends with a version of its own
// takes the place of /v1.
func (u *Upstream) join(p, query string) *url.URL {
	out := *u.URL
	if version.MatchString(out.Path) {
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
