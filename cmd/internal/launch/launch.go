// Package launch starts a client that sends its requests to a gateway: it knows the clients
// ([Clients]), prepares the configuration that directs one to the gateway ([Prepare]), runs it as
// if the user had started it ([Run]), and keeps that configuration in a folder that is removed
// afterwards ([Temp]).
//
// The user's own files are never changed. Clients that read their address from a file get a changed
// copy of it, or only the change if they can merge files.
package launch

import (
	"errors"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/host/hook"
)

// Client is a known client program.
type Client struct {
	Name     string
	Commands []string // names of its executable
	Told     string   // how it is directed to the gateway, for display
	HowTo    string   // how to do so manually; %s is the gateway's URL
	prepare  func(*Plan) error
}

// Place is the environment that a client starts in.
type Place struct {
	Args   []string // the command and its arguments
	Client string   // name of the client; "": derived from the command
	Base   string   // URL of the gateway, without /v1
	// Upstream is the URL that the user has the gateway forward to, regardless of the client's own;
	// "": none. With it, an address in a file of the working directory is overridden; without it,
	// such an address is an error.
	Upstream string
	Env      func(string) string
	Home     string // the user's
	Dir      string // the working directory; it is not trusted
	Temp     *Temp
}

// Plan describes how a client is started.
type Plan struct {
	Client   *Client
	Args     Args
	Env      map[string]string // additional variables
	Warnings []string

	// The upstreams that the client used before, for the gateway to forward to; "": the defaults.
	Anthropic, OpenAI string
	Others            map[string]string // further upstreams by name

	place Place
	from  map[string]string // by URL: the file, variable or flag that named it
}

// Prepare plans how to start the command. The error is [precis.CodeInvalid] for an unknown client.
func Prepare(place Place) (*Plan, error) {
	const op = "prepare client"
	if len(place.Args) == 0 {
		return nil, precis.Errorf(precis.CodeInvalid, op, "there is no command")
	}
	c, err := findClient(place)
	if err != nil {
		return nil, err
	}
	p := &Plan{Client: c, Args: slices.Clone(place.Args), Env: map[string]string{},
		Others: map[string]string{}, place: place, from: map[string]string{}}
	p.anthropicAt(place.Env("ANTHROPIC_BASE_URL"), "ANTHROPIC_BASE_URL")
	for _, name := range []string{"OPENAI_API_BASE", "OPENAI_BASE_URL"} { // the last one wins
		p.openAIAt(markUnversioned(place.Env(name)), name)
	}
	if err := c.prepare(p); err != nil {
		if _, ok := errors.AsType[*precis.Error](err); ok {
			return nil, err
		}
		return nil, precis.Errorf(precis.CodeInvalid, op, "%s: %w", c.Name, err)
	}
	p.noProxy()
	return p, nil
}

// anthropicAt and openAIAt record the URL that the client used before, and its source; "" is
// ignored.
func (p *Plan) anthropicAt(url, from string) {
	if url != "" {
		p.Anthropic, p.from[url] = url, from
	}
}

func (p *Plan) openAIAt(url, from string) {
	if url != "" {
		p.OpenAI, p.from[url] = url, from
	}
}

// findClient returns the client of a command; the generic one for an unknown command.
func findClient(place Place) (*Client, error) {
	all := Clients()
	name := place.Client
	if name == "" {
		name = filepath.Base(place.Args[0])
		for _, ext := range []string{".exe", ".cmd", ".bat", ".ps1"} {
			name = strings.TrimSuffix(name, ext)
		}
	}
	for i := range all {
		if slices.Contains(all[i].Commands, name) || all[i].Name == name {
			return &all[i], nil
		}
	}
	if place.Client != "" {
		return nil, precis.Errorf(precis.CodeInvalid, "choose client",
			"there is no client %q, want one of %v", place.Client, Names())
	}
	return &all[len(all)-1], nil
}

// Names returns the names of the clients.
func Names() []string {
	var out []string
	for _, c := range Clients() {
		out = append(out, c.Name)
	}
	return out
}

// Environ returns an environment with the plan's variables.
func (p *Plan) Environ(env []string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		_, ours := p.Env[name]
		return ours || name == hook.SilenceEnv
	})
	out = append(out, hook.SilenceEnv+"=1") // precis inside the client leaves the work to the gateway
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		out = append(out, name+"="+p.Env[name])
	}
	return out
}

// noProxy exempts the gateway, which is reached without encryption, from proxies, including a proxy
// that a client reads from a file of the working directory.
func (p *Plan) noProxy() {
	for _, name := range noProxyNames {
		p.Env[name] = p.withoutProxy()
	}
}

var noProxyNames = []string{"NO_PROXY", "no_proxy"}

// withoutProxy returns the value of such variables: the gateway plus the user's exceptions in
// either spelling, because programs read one or the other.
func (p *Plan) withoutProxy() string {
	var all []string
	for _, name := range noProxyNames {
		all = append(all, strings.FieldsFunc(p.place.Env(name),
			func(r rune) bool { return r == ',' || r == ' ' })...)
	}
	var out []string
	for _, host := range append(all, "127.0.0.1", "localhost") {
		if !slices.Contains(out, host) {
			out = append(out, host)
		}
	}
	return strings.Join(out, ",")
}

// base returns the URL of the gateway for clients that append /v1 themselves, v1 for the others.
func (p *Plan) base() string { return p.place.Base }
func (p *Plan) v1() string   { return p.place.Base + "/v1" }

func (p *Plan) set(name, value string) { p.Env[name] = value }

func (p *Plan) warn(text string) { p.Warnings = append(p.Warnings, text) }

var versioned = regexp.MustCompile(`/v[0-9]+[a-z0-9]*/?$`)

// markUnversioned marks the base URL of an OpenAI client that ends without a version, so that none is added
// before the path.
func markUnversioned(url string) string {
	if url == "" || versioned.MatchString(url) {
		return url
	}
	return strings.TrimRight(url, "/") + "#"
}

var unclean = regexp.MustCompile(`[^A-Za-z0-9]+`)

// addUpstream makes an upstream from a base URL in a client's configuration file, from, and returns its
// replacement. Anthropic's own clients append /v1 to it, others do not.
func (p *Plan) addUpstream(name, url, from string, addsVersion bool) string {
	clean := "client-" + strings.Trim(unclean.ReplaceAllString(name, "-"), "-")
	for known, ok := p.Others[clean]; ok && known != url &&
		known != markUnversioned(url); known, ok = p.Others[clean] {
		clean += "x"
	}
	if addsVersion {
		p.Others[clean], p.from[url] = url, from
		return p.base() + "/" + clean
	}
	p.Others[clean], p.from[markUnversioned(url)] = markUnversioned(url), from
	return p.base() + "/" + clean + "/v1"
}
