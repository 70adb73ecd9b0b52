// Package launch starts a client behind a gateway: it knows the clients
// ([Clients]), works out what one needs to be told ([Prepare]), runs it as if it
// had been started by itself ([Run]), and keeps what it was told in a folder that
// is gone afterwards ([Temp]).
//
// What belongs to the user is never changed. Clients that read their address
// from a file get a changed copy of it, or the change alone where they can merge.
package launch

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"precis"
)

// Client is a program that is known.
type Client struct {
	Name     string
	Commands []string // names of its executable
	Told     string   // how it is pointed at the gateway, for people
	HowTo    string   // how to do so by hand; %s is the gateway's URL
	prepare  func(*Plan) error
}

// Place is where a client is to be started.
type Place struct {
	Args   []string // the command and its arguments
	Client string   // name of the client; "": by the command
	Base   string   // URL of the gateway, without /v1
	Env    func(string) string
	Home   string // the user's
	Dir    string // the working directory
	Temp   *Temp
}

// Plan is what a client is started with.
type Plan struct {
	Client   *Client
	Args     []string
	Env      map[string]string // set beside what there is
	Warnings []string

	// What the client was pointed at before, for the gateway to forward to; "":
	// nothing in particular.
	Anthropic, OpenAI string
	Others            map[string]string // further upstreams by name

	place Place
}

// Prepare works out how the command is to be started. The error is
// [precis.CodeInvalid] for a client that is not known.
func Prepare(place Place) (*Plan, error) {
	const op = "prepare client"
	if len(place.Args) == 0 {
		return nil, precis.Errorf(precis.CodeInvalid, op, "there is no command")
	}
	c, err := find(place)
	if err != nil {
		return nil, err
	}
	p := &Plan{Client: c, Args: slices.Clone(place.Args), Env: map[string]string{}, Others: map[string]string{}, place: place}
	p.Anthropic = place.Env("ANTHROPIC_BASE_URL")
	if p.OpenAI = place.Env("OPENAI_BASE_URL"); p.OpenAI == "" {
		p.OpenAI = place.Env("OPENAI_API_BASE")
	}
	p.OpenAI = asIs(p.OpenAI)
	if err := c.prepare(p); err != nil {
		return nil, precis.Errorf(precis.CodeInvalid, op, "%s: %w", c.Name, err)
	}
	p.noProxy()
	return p, nil
}

// find returns the client of a command; the generic one when it is none we know.
func find(place Place) (*Client, error) {
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
		return nil, precis.Errorf(precis.CodeInvalid, "choose client", "there is no client %q, want one of %v", place.Client, Names())
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
		return ours
	})
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		out = append(out, name+"="+p.Env[name])
	}
	return out
}

// noProxy keeps the way to the gateway clear of proxies.
func (p *Plan) noProxy() {
	const local = "127.0.0.1,localhost"
	set := false
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY", "https_proxy"} {
		set = set || p.place.Env(name) != ""
	}
	if !set {
		return
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		p.Env[name] = strings.TrimPrefix(p.place.Env(name)+","+local, ",")
	}
}

// base is the URL of the gateway for clients that add /v1 themselves, v1 for the
// others.
func (p *Plan) base() string { return p.place.Base }
func (p *Plan) v1() string   { return p.place.Base + "/v1" }

func (p *Plan) set(name, value string) { p.Env[name] = value }

func (p *Plan) warn(text string) { p.Warnings = append(p.Warnings, text) }

// insert puts arguments behind the command.
func (p *Plan) insert(args ...string) { p.Args = slices.Insert(p.Args, 1, args...) }

// flag returns the value of a flag in the arguments.
func (p *Plan) flag(name string) (value string, ok bool) {
	for i, a := range p.Args[1:] {
		if v, is := strings.CutPrefix(a, name+"="); is {
			return v, true
		}
		if a == name && i+2 < len(p.Args) {
			return p.Args[i+2], true
		}
	}
	return "", false
}

// setFlag gives a flag a value, in its place when it is there.
func (p *Plan) setFlag(name, value string) {
	for i := 1; i < len(p.Args); i++ {
		if strings.HasPrefix(p.Args[i], name+"=") {
			p.Args[i] = name + "=" + value
			return
		}
		if p.Args[i] == name && i+1 < len(p.Args) {
			p.Args[i+1] = value
			return
		}
	}
	p.insert(name, value)
}

var versioned = regexp.MustCompile(`/v[0-9]+[a-z0-9]*/?$`)

// asIs marks the base URL of an OpenAI client that ends with no version: nothing
// is put between it and the path.
func asIs(url string) string {
	if url == "" || versioned.MatchString(url) {
		return url
	}
	return strings.TrimRight(url, "/") + "#"
}

var unclean = regexp.MustCompile(`[^A-Za-z0-9]+`)

// other makes an upstream of a base URL in a client's configuration and returns
// the one to put there. Anthropic's own clients add /v1 to it, others do not.
func (p *Plan) other(name, url string, addsVersion bool) string {
	clean := "client-" + strings.Trim(unclean.ReplaceAllString(name, "-"), "-")
	for known, ok := p.Others[clean]; ok && known != url && known != asIs(url); known, ok = p.Others[clean] {
		clean += "x"
	}
	if addsVersion {
		p.Others[clean] = url
		return p.base() + "/" + clean
	}
	p.Others[clean] = asIs(url)
	return p.base() + "/" + clean + "/v1"
}
