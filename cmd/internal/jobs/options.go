package jobs

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/internal/suggest"
	"github.com/precis-dev/precis/policy"
)

// options are the flags for work on a recording.
type options struct {
	config  string
	preset  string
	window  string
	target  string
	model   string
	output  string
	profile string
	est     string
	set     []string
	own     map[string]string // by key, flags of single commands that are named like the end of their key
	used    int
}

func (o *options) register(f *pflag.FlagSet) {
	f.StringVar(&o.config, "config", "",
		"configuration `FILE`, read in the place of the user's and the current folder's (default $PRECIS_CONFIG)")
	f.StringVar(&o.preset, "preset", "", "`POLICY`: balanced, frugal, selective, roo or off")
	f.StringVar(&o.window, "window", "",
		"context window in `TOKENS`, such as 200000 or 200k (default the model's)")
	f.StringVar(&o.target, "target", "",
		"come down to this `SIZE`, whatever it takes: 20% or 0.2 of the window, or tokens such as 20k")
	f.StringVar(&o.model, "model", "", "`MODEL` whose window counts (default the one the recording names)")
	f.StringVar(&o.output, "max-output", "", "output `TOKENS` to leave room for")
	f.StringVar(&o.profile, "profile", "", "`NAME` whose threshold counts (default the model)")
	f.StringVar(&o.est, "estimate", "", "`WAY` of counting tokens: o200k, cl100k, roo or chars4")
	f.IntVar(&o.used, "used", 0, "input `TOKENS` the provider reported for the last request, where that is more than is counted")
	f.StringArrayVar(&o.set, "set", nil, "set a configuration `KEY=VALUE`; repeatable")
}

// parseTarget reads the flag --target, the target of a run in [Job.ask]. The setting of the same name,
// which has no tokens, is set once the window is known.
func (o *options) parseTarget() (policy.Target, error) {
	t, err := policy.ParseTarget(o.target)
	if e, ok := errors.AsType[*precis.Error](err); ok {
		e.Op = "read --target"
	}
	return t, err
}

// load returns the effective configuration.
func (o *options) load() (*config.Config, error) {
	flags, names := map[string]string{}, map[string]string{}
	set := func(key, flag, v string) {
		if v != "" {
			flags[key], names[key] = v, flag
		}
	}
	set("preset", "--preset", o.preset)
	set("window", "--window", o.window)
	set("estimate", "--estimate", o.est)
	if n, err := config.ParseCount(o.window); o.window != "" && err == nil && n == 0 {
		return nil, &precis.Error{Code: precis.CodeInvalid, Op: "read flags",
			Err:  fmt.Errorf("--window is %s, want 1 or more", o.window),
			Hint: "without it the window is the model's"}
	}
	for _, kv := range o.set {
		key, v, ok := strings.Cut(kv, "=")
		if !ok || !config.Known(key) {
			return nil, &precis.Error{Code: precis.CodeInvalid, Op: "read flags", Place: "--set " + kv,
				Err:  fmt.Errorf("want KEY=VALUE with a known key"),
				Hint: cmp.Or(suggest.DidYouMean(key, config.Keys()), "precis config lists the keys")}
		}
		set(key, "--set", v)
	}
	for key, v := range o.own {
		set(key, "--"+key[strings.LastIndex(key, ".")+1:], v)
	}
	target, err := o.parseTarget()
	if err != nil {
		return nil, err
	}
	if window, err := config.ParseCount(o.window); target.Tokens > 0 && err == nil && window > 0 {
		target.Share = policy.Share(min(float64(target.Tokens)/float64(window), 1))
	}
	if target.Share > 0 {
		set("target", "--target", strconv.FormatFloat(100*float64(target.Share), 'g', -1, 64))
	}
	c, err := config.Load(config.Sources{
		Path: cmp.Or(o.config, os.Getenv(config.EnvPrefix+"CONFIG")), User: config.UserFile(),
		Folder: config.FolderFile, Env: os.Getenv, Flags: flags, Names: names,
	})
	if err != nil {
		return nil, err
	}
	if c.Model = o.model; o.output != "" {
		c.MaxOutput, err = config.ParseCount(o.output)
	}
	if err != nil {
		return nil, &precis.Error{Code: precis.CodeInvalid, Op: "read flags", Place: "--max-output", Err: err}
	}
	return c, nil
}
