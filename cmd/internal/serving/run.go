package serving

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/cmd/internal/launch"
	"github.com/precis-dev/precis/cmd/internal/service"
)

// runClient starts a gateway and runs a command that uses it.
type runClient struct {
	*command.Tools
	client, upstream, store string
}

// NewRun makes the command run.
func NewRun(t *command.Tools) *cobra.Command {
	c := &runClient{Tools: t}
	cmd := &cobra.Command{
		Use:   "run [flags] -- COMMAND [ARGS…]",
		Short: "Run an agent behind a gateway of its own",
		Long: `Run a command behind a gateway that lives as long as it does. Clients that are
known by their name are told of it in their own way: claude, codex, opencode,
pi, qwen, cline, cn (Continue), crush, aider, goose. Any other command gets
ANTHROPIC_BASE_URL, OPENAI_BASE_URL and OPENAI_API_BASE.

  precis run -- claude
  precis run --set threshold=60 -- codex exec "fix the tests"

What those variables, or your own settings of the client, point at already is
where the gateway forwards to; it is printed unless it is the API of Anthropic
or OpenAI itself. An address in a file of the current folder, which may be
somebody else's, is refused; --upstream overrides it. No file of yours is
changed: clients that read their address from one get a changed copy in a folder
that is removed at the end.

The command has the terminal, gets the signals, and its exit code is returned. A
summary follows on standard error, unless --quiet is given.`,
		Args: command.Takes("COMMAND..."),
		RunE: c.run,
	}
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().StringVar(&c.client, "client", "", "`NAME` of the client (default by the command)")
	cmd.Flags().StringVar(&c.upstream, "upstream", "",
		"`URL` of the model API, whatever the client points at")
	cmd.Flags().StringVar(&c.store, "store", "",
		"`WHERE` conversations are kept: a file, a postgres:// URL, or memory")
	return cmd
}

func (c *runClient) run(cmd *cobra.Command, args []string) error {
	c.Jobs.Set("gateway.upstream", c.upstream)
	c.Jobs.Set("gateway.store", c.store)
	return c.launch(context.WithoutCancel(cmd.Context()), args) // the child command handles signals
}

func (c *runClient) launch(ctx context.Context, args []string) (err error) {
	cfg, err := c.Jobs.Config()
	if err != nil {
		return err
	}
	restrictToClient(&cfg.Gateway)
	l, err := service.Listen(cfg.Gateway)
	if err != nil {
		return err
	}
	defer l.Close() // no effect after serving
	temp := launch.NewTemp(os.Getenv)
	c.Jobs.OnClose(temp.Close)
	plan, err := c.prepare(args, l, temp)
	if err != nil {
		return err
	}
	destinations := point(cfg, plan, c.upstream)
	if !c.Quiet {
		for _, d := range destinations {
			c.Note("requests are forwarded to %s", d)
		}
		for _, w := range append(cfg.Warnings, plan.Warnings...) {
			c.Warn("%s", w)
		}
	}
	tally := &launch.Tally{}
	end, err := c.startGateway(ctx, cfg, l, tally)
	if err != nil {
		return err
	}
	err = launch.Run(launch.Command{Args: plan.Args, Env: plan.Environ(os.Environ()), In: c.In, Out: c.Out,
		Errs: c.Errs})
	if cerr := end(); cerr != nil {
		c.Warn("%v", cerr)
	}
	if !c.Quiet {
		c.Notes.Printf("%s", tally.Summary(c.Words)) // a write error on the terminal does not matter
		if _, ended := errors.AsType[launch.Exit](err); tally.Requests() == 0 && (err == nil || ended) {
			c.warnUnused(plan)
		}
	}
	return err
}

// warnUnused warns that no request used the gateway, and lists possible reasons. Otherwise users
// would not notice that the client bypassed it.
func (c *runClient) warnUnused(plan *launch.Plan) {
	c.Warn("no request came through precis: what this client said was not kept inside its window")
	c.Notes.Paragraph("", c.Words.Text("It asked no model, or it went past the gateway: clients that are signed in with a subscription often ignore base URLs. precis set: %s.", plan.Client.Told))
	c.Notes.Pairs(c.Named(
		[2]string{"check", "precis doctor"},
		[2]string{"with an API key", c.Words.Text("sign out of the subscription, set the key, and run it again")},
		[2]string{"without the gateway",
			c.Words.Text("precis sessions, precis inspect @last and precis mcp read what it has recorded")},
	)...)
}

// restrictToClient restricts a gateway to a single local client.
func restrictToClient(g *config.Gateway) {
	g.Listen, g.KeysFile, g.CertFile, g.KeyFile, g.Hosts = "127.0.0.1:0", "", "", "", nil
	g.Drain = min(g.Drain, 2)
}

func (c *runClient) prepare(args []string, l net.Listener, temp *launch.Temp) (*launch.Plan, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, precis.Errorf(precis.CodeInternal, "find home folder", "%w", err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, precis.Errorf(precis.CodeInternal, "find working folder", "%w", err)
	}
	return launch.Prepare(launch.Place{Args: args, Client: c.client, Base: "http://" + l.Addr().String(),
		Upstream: c.upstream, Env: os.Getenv, Home: home, Dir: dir, Temp: temp})
}

// point sets the gateway's upstreams to the servers that the client used before. It returns, for
// people, the destinations other than the APIs of Anthropic and OpenAI.
func point(cfg *config.Config, plan *launch.Plan, upstream string) (destinations []string) {
	g := &cfg.Gateway
	for name, url := range plan.Others {
		g.Others = append(g.Others, name+"="+url)
	}
	if upstream != "" {
		g.Anthropic, g.OpenAI = "", ""
		return []string{launch.Shown(upstream) + " (--upstream)"}
	}
	destinations = plan.Destinations()
	configured := func(url string) {
		key := "gateway.others"
		if url == "" {
			key, url = "gateway.upstream", g.Upstream
		}
		if url != "" && !launch.IsOfficial(url) {
			destinations = append(destinations,
				fmt.Sprintf("%s (%s, %s)", launch.Shown(url), key, cfg.Origin(key)))
		}
	}
	if plan.Anthropic == "" {
		configured(g.Anthropic)
	}
	if plan.OpenAI == "" {
		configured(g.OpenAI)
	}
	g.Anthropic, g.OpenAI = cmp.Or(plan.Anthropic, g.Anthropic), cmp.Or(plan.OpenAI, g.OpenAI)
	return slices.Compact(destinations)
}

// The gateway starts here; the returned function stops it.
func (c *runClient) startGateway(ctx context.Context, cfg *config.Config, l net.Listener,
	tally *launch.Tally) (end func() error, err error) {
	log := slog.New(slog.DiscardHandler) // the client uses the terminal
	if c.Verbose {
		log = slog.New(slog.NewTextHandler(c.Notes, nil))
	}
	p := c.Jobs.GatewayParts(cfg, log, c.Version)
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
