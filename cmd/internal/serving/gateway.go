// Package serving answers: which programs of precis keep running, and what does a user ask of them?
// It has the commands gateway, serve, run, ui, mcp and windows.
package serving

import (
	"context"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/cmd/internal/service"
)

// serve runs the proxy, or the services without an upstream.
type serve struct {
	*command.Tools
	local                   bool // no upstream
	listen, upstream, store string
	format                  string
}

// NewGateway makes the command gateway.
func NewGateway(t *command.Tools) *cobra.Command {
	c := &serve{Tools: t}
	cmd := &cobra.Command{
		Use:   "gateway",
		Short: "Serve a proxy that keeps conversations inside their windows",
		Long: `Serve an HTTP proxy in front of the Anthropic and OpenAI APIs, or any that
speaks like them. Point a client at it and its context never overflows:

  ANTHROPIC_BASE_URL=http://127.0.0.1:8377 claude
  OPENAI_BASE_URL=http://127.0.0.1:8377/v1 your-agent

Keys pass through and are not stored. Everything under gateway.* in the
configuration can be set here with --set; precis config lists it. The
configuration is read again when its file changes, and on SIGHUP.

Its pages, for a browser, are at /precis/ of the same address.

To start one client with a gateway of its own use precis run.`,
		Example: `  precis gateway
  precis gateway --listen 127.0.0.1:9000 --upstream http://127.0.0.1:11434`,
		Args: command.Takes(),
		RunE: c.run,
	}
	cmd.Flags().StringVar(&c.listen, "listen", "", "`ADDRESS` to listen on (default 127.0.0.1:8377)")
	cmd.Flags().StringVar(&c.upstream, "upstream", "",
		"`URL` of the model API (default those of Anthropic and OpenAI)")
	cmd.Flags().StringVar(&c.store, "store", "",
		"`WHERE` conversations are kept: a file, a postgres:// URL, or memory")
	cmd.Flags().StringVar(&c.format, "log-format", "",
		"log requests and checks to standard error in a `FORMAT`, text or json (default only what goes wrong, as text)")
	cmd.AddCommand(newGatewayKey(t), newGatewayPages(t))
	return cmd
}

func (c *serve) run(cmd *cobra.Command, _ []string) error {
	c.Jobs.Set("gateway.listen", c.listen)
	c.Jobs.Set("gateway.upstream", c.upstream)
	c.Jobs.Set("gateway.store", c.store)
	log, err := c.logger()
	if err != nil {
		return err
	}
	return c.serve(cmd.Context(), log)
}

func (c *serve) serve(ctx context.Context, log *slog.Logger) error {
	cfg, err := c.Jobs.Config()
	if err != nil {
		return err
	}
	for _, w := range cfg.Warnings {
		c.Warn("%s", w)
	}
	l, err := service.Listen(cfg.Gateway)
	if err != nil {
		return err
	}
	if os.Getenv("GOMEMLIMIT") == "" { // otherwise the runtime has applied it
		debug.SetMemoryLimit(service.SoftMemoryLimit(cfg.Gateway))
	}
	p := c.Jobs.GatewayParts(cfg, log, c.Version)
	p.Operations, p.Local, p.Reload = true, c.local, c.Jobs.Config
	s, err := service.Open(ctx, p)
	if err != nil {
		_ = l.Close()
		return err
	}
	if !c.Quiet {
		name := "gateway"
		if c.local {
			name = "serve"
		}
		c.Notes.Printf("%s\n", c.Words.Text("precis %s listens on http://%s", name, l.Addr().String()))
		c.pages(cfg.Gateway, l.Addr().String())
	}
	err = s.Serve(ctx, l)
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx),
		time.Duration(cfg.Gateway.Drain)*time.Second)
	defer cancel()
	if cerr := s.Close(grace); err == nil {
		err = cerr
	}
	return err
}

// pages prints the address of the pages. The address that gives a browser its cookie is printed
// only to a terminal, because a service's output is kept in logs.
func (c *serve) pages(g config.Gateway, listens string) {
	if g.KeysFile != "" || !c.Notes.Terminal() {
		return
	}
	if at, err := service.PagesURL(g, listens); err == nil {
		c.Notes.Printf("%s\n", c.Words.Text("its pages, for your browser: %s", at))
	}
}

// newGatewayPages returns the command that prints the address of the pages.
func newGatewayPages(t *command.Tools) *cobra.Command {
	return &cobra.Command{
		Use:   "pages",
		Short: "Print the address at which a browser may use the pages of the gateway",
		Long: `Print the address of the pages of the gateway that runs at gateway.listen. It
holds a secret of your account: the browser that opens it once may change
conversations on the pages, which without keys nobody else on this machine may.`,
		Example: `  precis gateway pages`,
		Args:    command.Takes(),
		RunE: func(*cobra.Command, []string) error {
			cfg, err := t.Jobs.Config()
			if err != nil {
				return err
			}
			at, err := service.PagesURL(cfg.Gateway, cfg.Gateway.Listen)
			if err != nil {
				return err
			}
			if t.AsJSON {
				return t.JSON(map[string]string{"address": at})
			}
			t.Text.Printf("%s\n", at)
			return nil
		},
	}
}

// logger returns a logger of warnings; with a format or -v, of everything.
func (c *serve) logger() (*slog.Logger, error) {
	o := &slog.HandlerOptions{Level: slog.LevelWarn}
	switch {
	case c.Quiet:
		o.Level = slog.LevelError
	case c.Verbose, c.format != "":
		o.Level = slog.LevelInfo
	}
	switch c.format {
	case "", "text":
		return slog.New(slog.NewTextHandler(c.Notes, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(c.Notes.JSON(), o)), nil
	}
	return nil, precis.Errorf(precis.CodeInvalid, "read flags", "--log-format is %q, want text or json",
		c.format)
}
