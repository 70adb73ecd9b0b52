package launch

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
)

// ErrFolder is the cause of the error for a file of the working directory, or a parent, that sets
// the destination of a client's requests and keys.
var ErrFolder = errors.New("a file of the folder you work in must not say where requests and keys go")

// refuse returns the error for an address in a file that is not the user's; nil when the user has
// set the upstream and the address is overridden.
func (p *Plan) refuse(path, key, url string) error {
	if p.place.Upstream != "" {
		return nil
	}
	return &precis.Error{
		Code: precis.CodeInvalid, Op: "prepare client", Place: path,
		Err:  fmt.Errorf("%s is %q: %w", key, config.MaskURL(url), ErrFolder),
		Hint: "to have requests go there, say so: precis run --upstream URL; else take it out of the file",
	}
}

// Destinations returns the upstreams from the user's own client settings, for display: each URL
// without its secrets, and its source. The APIs of Anthropic and OpenAI themselves are omitted.
func (p *Plan) Destinations() []string {
	var out []string
	urls := append([]string{p.Anthropic, p.OpenAI}, slices.Sorted(maps.Values(p.Others))...)
	for _, u := range urls {
		if from := p.from[u]; from != "" && !IsOfficial(u) {
			out = append(out, fmt.Sprintf("%s (%s)", Shown(u), from))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Shown returns the URL of an upstream for display, without its secrets.
func Shown(upstream string) string {
	return config.MaskURL(strings.TrimSuffix(upstream, "#"))
}

// IsOfficial reports whether a URL is the API of Anthropic or OpenAI itself.
func IsOfficial(upstream string) bool {
	u, err := url.Parse(upstream)
	return err == nil && u.Scheme == "https" && u.User == nil &&
		(u.Host == "api.anthropic.com" || u.Host == "api.openai.com")
}
