// Command hosts runs agent programs with precis installed in them, against a scripted
// model server whose summaries lose what was planted, and prints what reached the model
// after each program's own compaction.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/precis-dev/precis/lab/clients"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "hosts: error: %v\n", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, notes io.Writer) error {
	f := flag.NewFlagSet("hosts", flag.ContinueOnError)
	f.SetOutput(notes)
	var o clients.HostOptions
	f.StringVar(&o.Precis, "precis", "dist/precis", "the program to install")
	f.StringVar(&o.Cache, "cache", "", "folder of the packages")
	f.IntVar(&o.Files, "files", 20, "files to be read")
	f.DurationVar(&o.Timeout, "timeout", 4*time.Minute, "for one run")
	f.StringVar(&o.Keep, "keep", "", "folder for logs and bodies")
	f.BoolVar(&o.Terminal, "terminal", false,
		"in a terminal, as a person uses them; needs tmux (Claude Code)")
	only := f.String("only", "", "names of programs, separated by commas")
	modes := f.String("modes", clients.Alone+","+clients.Inside,
		"alone, precis, gate (opencode), hanging, missing, broken, killed, off, gateway, digest")
	asJSON := f.Bool("json", false, "print JSON")
	strict := f.Bool("strict", false, "fail when a run is not as it should be")
	if err := f.Parse(args); err != nil {
		return err
	}
	var err error
	if o.Precis, err = filepath.Abs(o.Precis); err != nil {
		return err
	}
	if o.Cache == "" {
		if o.Cache, err = clients.CacheDir(); err != nil {
			return err
		}
	}
	all := clients.HostSetUps()
	if *only != "" {
		names := strings.Split(*only, ",")
		all = slices.DeleteFunc(all, func(s clients.HostSetUp) bool {
			return !slices.Contains(names,
				s.Name)
		})
		if len(all) != len(names) {
			return fmt.Errorf("--only %s: not all of these are known", *only)
		}
	}
	if o.Terminal {
		all = slices.DeleteFunc(all, func(s clients.HostSetUp) bool { return !s.InTerminal() })
	}
	if err := clients.InstallHosts(ctx, o.Cache, all, func(s string) { fmt.Fprintln(notes, s) }); err != nil {
		return err
	}
	var results []clients.HostResult
	sound := true
	for _, s := range all {
		for mode := range strings.SplitSeq(*modes, ",") {
			fmt.Fprintf(notes, "%s, %s\n", s.Name, mode)
			r := clients.RunHost(ctx, s, mode, o)
			results = append(results, r)
			sound = sound && r.Sound()
		}
	}
	if *asJSON {
		err = clients.WriteHostResults(out, results)
	} else {
		err = clients.HostTable(out, results)
	}
	if err == nil && *strict && !sound {
		err = errors.New("a run was not as it should be")
	}
	return err
}
