package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"

	"precis"
	"precis/cmd/internal/config"
	"precis/cmd/internal/launch"
	"precis/cmd/internal/service"
)

func (a *app) runCmd() *cobra.Command {
	var client, upstream, store string
	cmd := &cobra.Command{
		Use:   "run [flags] -- COMMAND [ARGS…]",
		Short: "Run an agent behind a gateway of its own",
		Long: `Run a command behind a gateway that lives as long as it does. Clients that are
known by their name are told of it in their own way: claude, codex, opencode, pi,
qwen, cline, cn (Continue), crush, aider, goose. Any other command gets
ANTHROPIC_BASE_URL, OPENAI_BASE_URL and OPENAI_API_BASE.

  precis run -- claude
  precis run --set threshold=60 -- codex exec "fix the tests"

What those variables, or the client's own files, point at already is where the
gateway forwards to. No file of yours is changed: clients that read their address
from one get a changed copy in a folder that is removed at the end.

The command has the terminal, gets the signals, and its exit code is returned. A
summary follows on standard error, unless --quiet is given.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for key, v := range map[string]string{"gateway.upstream": upstream, "gateway.store": store} {
				if v != "" {
					a.opts.set = append(a.opts.set, key+"="+v)
				}
			}
			// Signals are the command's business.
			return a.launch(context.WithoutCancel(cmd.Context()), launching{client: client, upstream: upstream, args: args})
		},
	}
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().StringVar(&client, "client", "", "`NAME` of the client (default by the command)")
	cmd.Flags().StringVar(&upstream, "upstream", "", "`URL` of the model API, whatever the client points at")
	cmd.Flags().StringVar(&store, "store", "", "`WHERE` conversations are kept: a file, a postgres:// URL, or memory")
	return cmd
}

// launching is a command to run, and how.
type launching struct {
	client, upstream string
	args             []string
}

func (a *app) launch(ctx context.Context, what launching) (err error) {
	cfg, err := a.opts.load()
	if err != nil {
		return err
	}
	alone(&cfg.Gateway)
	l, err := service.Listen(cfg.Gateway)
	if err != nil {
		return err
	}
	defer l.Close() // closed already when it was served
	temp := launch.NewTemp(os.Getenv)
	a.closing = append(a.closing, temp.Close)
	plan, err := prepare(what, l, temp)
	if err != nil {
		return err
	}
	point(&cfg.Gateway, plan, what.upstream)
	if !a.opts.quiet {
		for _, w := range append(cfg.Warnings, plan.Warnings...) {
			a.warn("%s", w)
		}
	}
	tally := &launch.Tally{}
	end, err := a.behind(ctx, cfg, l, tally)
	if err != nil {
		return err
	}
	err = launch.Run(launch.Command{Args: plan.Args, Env: plan.Environ(os.Environ()), In: a.in, Out: a.out, Errs: a.errs})
	if cerr := end(); cerr != nil {
		a.warn("%v", cerr)
	}
	if !a.opts.quiet {
		_, _ = io.WriteString(a.errs, tally.String()) // a terminal that is gone needs none
	}
	return err
}

// alone makes a gateway one for a single client: nobody else is to reach it.
func alone(g *config.Gateway) {
	g.Listen, g.KeysFile, g.CertFile, g.KeyFile, g.Hosts = "127.0.0.1:0", "", "", "", nil
	g.Drain, g.DrainDelay = min(g.Drain, 2), 0
}

func prepare(what launching, l net.Listener, temp *launch.Temp) (*launch.Plan, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, precis.Errorf(precis.CodeInternal, "find home folder", "%w", err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, precis.Errorf(precis.CodeInternal, "find working folder", "%w", err)
	}
	return launch.Prepare(launch.Place{Args: what.args, Client: what.client, Base: "http://" + l.Addr().String(), Env: os.Getenv, Home: home, Dir: dir, Temp: temp})
}

// point has the gateway forward to what the client pointed at.
func point(g *config.Gateway, plan *launch.Plan, upstream string) {
	for name, url := range plan.Others {
		g.Others = append(g.Others, name+"="+url)
	}
	if upstream != "" {
		g.Anthropic, g.OpenAI = "", ""
		return
	}
	g.Anthropic, g.OpenAI = cmp.Or(plan.Anthropic, g.Anthropic), cmp.Or(plan.OpenAI, g.OpenAI)
}

// behind starts the gateway. What it returns ends it.
func (a *app) behind(ctx context.Context, cfg *config.Config, l net.Listener, tally *launch.Tally) (end func() error, err error) {
	log := slog.New(slog.DiscardHandler) // the terminal is the client's
	if a.opts.verbose {
		log = slog.New(slog.NewTextHandler(a.errs, nil))
	}
	p := a.parts(cfg, log)
	p.OnTurn, p.OnReport = tally.Turn, tally.Report
	s, err := service.Open(ctx, p)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	return func() error {
		const patience = 5 * time.Second
		cancel()
		err := <-served
		grace, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer stop()
		if cerr := s.Close(grace); err == nil {
			err = cerr
		}
		if err != nil {
			return fmt.Errorf("the gateway did not end well: %w", err)
		}
		return nil
	}, nil
}
