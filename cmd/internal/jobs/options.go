package jobs

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"precis"
	"precis/cmd/internal/config"
	"precis/internal/suggest"
)

// options are the flags that say how a recording is worked on.
type options struct {
	config  string
	preset  string
	window  string
	target  float64
	model   string
	output  string
	profile string
	est     string
	set     []string
	used    int
}

func (o *options) register(f *pflag.FlagSet) {
	f.StringVar(&o.config, "config", "", "configuration `FILE`, read in the place of the user's and the current folder's (default $PRECIS_CONFIG)")
	f.StringVar(&o.preset, "preset", "", "`POLICY`: balanced, frugal, selective, roo or off")
	f.StringVar(&o.window, "window", "", "context window in `TOKENS`, such as 200000 or 200k (default the model's)")
	f.Float64Var(&o.target, "target", 0, "come down to this `SHARE` of the window, 0 to 1, whatever it takes")
	f.StringVar(&o.model, "model", "", "`MODEL` whose window counts (default the one the recording names)")
	f.StringVar(&o.output, "max-output", "", "output `TOKENS` to leave room for")
	f.StringVar(&o.profile, "profile", "", "`NAME` whose threshold counts (default the model)")
	f.StringVar(&o.est, "estimate", "", "`WAY` of counting tokens: o200k, cl100k, roo or chars4")
	f.IntVar(&o.used, "used", 0, "input `TOKENS` the provider reported for the last request, where that is more than is counted")
	f.StringArrayVar(&o.set, "set", nil, "set a configuration `KEY=VALUE`; repeatable")
}

// load works out the configuration.
func (o *options) load() (*config.Config, error) {
	flags := map[string]string{}
	for key, v := range map[string]string{"preset": o.preset, "window": o.window, "model": o.model, "max_output": o.output, "estimate": o.est} {
		if v != "" {
			flags[key] = v
		}
	}
	if n, err := config.ParseCount(o.window); o.window != "" && err == nil && n == 0 {
		return nil, &precis.Error{Code: precis.CodeInvalid, Op: "read flags", Err: fmt.Errorf("--window is %s, want 1 or more", o.window), Hint: "without it the window is the model's"}
	}
	for _, kv := range o.set {
		key, v, ok := strings.Cut(kv, "=")
		if !ok || !config.Known(key) {
			return nil, &precis.Error{Code: precis.CodeInvalid, Op: "read flags", Place: "--set " + kv, Err: fmt.Errorf("want KEY=VALUE with a known key"),
				Hint: cmp.Or(suggest.DidYouMean(key, config.Keys()), "precis config lists the keys")}
		}
		flags[key] = v
	}
	if o.target < 0 || o.target > 1 {
		return nil, precis.Errorf(precis.CodeInvalid, "read flags", "--target is %g, want a share from 0 to 1", o.target)
	}
	if o.target > 0 {
		flags["target"] = strconv.FormatFloat(100*o.target, 'g', -1, 64)
	}
	return config.Load(config.Sources{
		Path: cmp.Or(o.config, os.Getenv(config.EnvPrefix+"CONFIG")), User: config.UserFile(), Folder: config.FolderFile, Env: os.Getenv, Flags: flags,
	})
}
