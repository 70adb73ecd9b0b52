package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/precis-dev/precis/internal/upstream"
	"github.com/precis-dev/precis/lab/clients"
)

// flags is what can be chosen.
type flags struct {
	clients.Options
	only     string
	direct   bool
	parallel int
	json     string
	install  bool
	list     bool
	strict   bool // every set-up has to succeed
}

func (f *flags) parse(args []string, stderr io.Writer) error {
	set := flag.NewFlagSet("clients", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.StringVar(&f.only, "only", "", "run these set-ups, separated by commas")
	set.BoolVar(&f.direct, "direct", false, "run without a gateway")
	set.StringVar(&f.Gateway, "gateway", os.Getenv("CLIENTS_GATEWAY"),
		"shell command of the gateway; PORT, UPSTREAM and WINDOW are in its environment")
	set.IntVar(&f.parallel, "parallel", 1, "how many set-ups run at once")
	set.StringVar(&f.Cache, "cache", os.Getenv("CLIENTS_CACHE"),
		"directory of the npm packages (default: in the user's cache directory)")
	set.IntVar(&f.Files, "files", 45, "files to be read")
	set.IntVar(&f.Bytes, "bytes", clients.FileBytes, "size of a file, about, in bytes")
	set.DurationVar(&f.Timeout, "timeout", 3*time.Minute, "time for a client")
	set.StringVar(&f.Keep, "keep", "", "directory for logs and bodies")
	set.StringVar(&f.json, "json", "", "file for the results as JSON")
	set.BoolVar(&f.install, "install", false, "install the packages and run nothing")
	set.BoolVar(&f.list, "list", false, "print the names of the set-ups")
	set.BoolVar(&f.strict, "strict", false, "fail unless every client did its task")
	f.upstreamFlags(set)
	if err := set.Parse(args); err != nil {
		return err
	}
	if set.NArg() > 0 {
		return fmt.Errorf("what is %q", set.Arg(0))
	}
	if f.direct {
		f.Gateway = ""
	} else if f.Gateway == "" && !f.install && !f.list {
		return errors.New("name a gateway with --gateway or CLIENTS_GATEWAY, or say --direct")
	}
	return f.defaults()
}

func (f *flags) upstreamFlags(set *flag.FlagSet) {
	o := &f.Upstream
	set.IntVar(&o.Window, "window", 60_000, "the model's context window in tokens; 0: no limit")
	set.Float64Var(&o.UsageFactor, "usage", 1, "factor of the usage that the model reports")
	set.BoolVar(&o.Thinking, "thinking", true, "the model thinks")
	set.BoolVar(&o.LegacyThinking, "legacy-thinking", false, "thinking is not bound to its prefix")
	set.BoolVar(&o.ReasoningBack, "reasoning-back", false, "reasoning_content has to come back")
	set.BoolVar(&o.OverflowInStream, "overflow-in-stream", false,
		"an overflow of the Responses API is an event")
	set.BoolVar(&o.Lenient, "lenient", false, "malformed requests are answered")
	set.DurationVar(&o.Latency, "latency", 0, "wait before each event")
}

func (f *flags) defaults() error {
	if f.Cache == "" {
		dir, err := clients.CacheDir()
		if err != nil {
			return err
		}
		f.Cache = dir
	}
	for _, dir := range []*string{&f.Cache, &f.Keep} {
		if *dir == "" {
			continue
		}
		abs, err := filepath.Abs(*dir)
		if err != nil {
			return err
		}
		*dir = abs
	}
	return nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 && args[0] == "upstream" {
		return serve(ctx, args[1:], stdout, stderr)
	}
	var f flags
	if err := f.parse(args, stderr); err != nil {
		return err
	}
	var names []string
	if f.only != "" {
		names = strings.Split(f.only, ",")
	}
	setUps, unknown := clients.Named(names)
	if len(unknown) > 0 {
		return fmt.Errorf("there is no set-up %s; --list names them", strings.Join(unknown, ", "))
	}
	if f.list {
		for _, s := range setUps {
			fmt.Fprintln(stdout, s.Name)
		}
		return nil
	}
	say := func(text string) { fmt.Fprintln(stderr, text) }
	if err := clients.Install(ctx, f.Cache, setUps, say); err != nil || f.install {
		return err
	}
	results := f.runAll(ctx, setUps, say)
	return errors.Join(ctx.Err(), clients.Table(stdout, results), f.writeJSON(results), f.judge(results))
}

// runAll runs set-ups and returns their results in the same order.
func (f *flags) runAll(ctx context.Context, setUps []clients.SetUp, say func(string)) []clients.Result {
	results := make([]clients.Result, len(setUps))
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(max(1, f.parallel))
	for i, s := range setUps {
		group.Go(func() error {
			r := clients.Run(ctx, s, f.Options)
			mu.Lock()
			defer mu.Unlock()
			results[i] = r
			say(fmt.Sprintf("%s: exit %d after %.0f s, %d files %s", r.Name, r.Exit, r.Seconds, r.Begun,
				r.Error))
			return nil
		})
	}
	_ = group.Wait() // what went wrong is in the results
	return results
}

func (f *flags) writeJSON(results []clients.Result) error {
	if f.json == "" {
		return nil
	}
	text, err := json.MarshalIndent(results, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(f.json, append(text, '\n'), 0o644)
}

func (f *flags) judge(results []clients.Result) error {
	failed := 0
	for _, r := range results {
		if !r.Sound() {
			failed++
		}
	}
	if !f.strict || failed == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d set-ups failed", failed, len(results))
}

// serve runs the model server by itself.
func serve(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var f flags
	set := flag.NewFlagSet("clients upstream", flag.ContinueOnError)
	set.SetOutput(stderr)
	listen := set.String("listen", "127.0.0.1:0", "address")
	f.upstreamFlags(set)
	set.Usage = func() {
		fmt.Fprintln(stderr, "clients upstream [flags] FILE ...: serve a model that asks for these files; /stats tells what came")
		set.PrintDefaults()
	}
	if err := set.Parse(args); err != nil {
		return err
	}
	o := f.Upstream
	o.Listen, o.Files = cmp.Or(*listen, o.Listen), set.Args()
	s, err := upstream.Start(o)
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Fprintln(stdout, s.URL)
	<-ctx.Done()
	return nil
}
