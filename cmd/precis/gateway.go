package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"precis"
	"precis/cmd/internal/config"
	"precis/cmd/internal/service"
	"precis/condense"
	"precis/gateway"
	"precis/preset"
)

func (a *app) gatewayCmd() *cobra.Command {
	var listen, upstream, store, format string
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

To start one client with a gateway of its own use precis run.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for key, v := range map[string]string{"gateway.listen": listen, "gateway.upstream": upstream, "gateway.store": store} {
				if v != "" {
					a.opts.set = append(a.opts.set, key+"="+v)
				}
			}
			log, err := a.gatewayLogger(format)
			if err != nil {
				return err
			}
			return a.serve(cmd.Context(), log)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "", "`ADDRESS` to listen on (default 127.0.0.1:8377)")
	cmd.Flags().StringVar(&upstream, "upstream", "", "`URL` of the model API (default those of Anthropic and OpenAI)")
	cmd.Flags().StringVar(&store, "store", "", "`WHERE` conversations are kept: a file, a postgres:// URL, or memory")
	cmd.Flags().StringVar(&format, "log-format", "", "log requests and checks to standard error as text or json (default only what goes wrong, as text)")
	cmd.AddCommand(a.gatewayKeyCmd())
	return cmd
}

func (a *app) serve(ctx context.Context, log *slog.Logger) error {
	cfg, err := a.opts.load()
	if err != nil {
		return err
	}
	for _, w := range cfg.Warnings {
		a.warn("%s", w)
	}
	l, err := service.Listen(cfg.Gateway)
	if err != nil {
		return err
	}
	p := a.parts(cfg, log)
	p.Operations, p.Reload = true, a.opts.load
	s, err := service.Open(ctx, p)
	if err != nil {
		_ = l.Close()
		return err
	}
	if !a.opts.quiet {
		fmt.Fprintf(a.errs, "precis gateway listens on http://%s\n", l.Addr())
	}
	err = s.Serve(ctx, l)
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Duration(cfg.Gateway.Drain)*time.Second)
	defer cancel()
	if cerr := s.Close(grace); err == nil {
		err = cerr
	}
	return err
}

// gatewayLogger logs what goes wrong, and everything when a format is asked for
// or -v is given.
func (a *app) gatewayLogger(format string) (*slog.Logger, error) {
	o := &slog.HandlerOptions{Level: slog.LevelWarn}
	switch {
	case a.opts.quiet:
		o.Level = slog.LevelError
	case a.opts.verbose, format != "":
		o.Level = slog.LevelInfo
	}
	switch format {
	case "", "text":
		return slog.New(slog.NewTextHandler(a.errs, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(a.errs, o)), nil
	}
	return nil, precis.Errorf(precis.CodeInvalid, "read flags", "--log-format is %q, want text or json", format)
}

// parts are what a gateway is made of.
func (a *app) parts(cfg *config.Config, log *slog.Logger) service.Parts {
	return service.Parts{
		Config: cfg, Logger: log, Condensing: a.gatewayCondensing, Version: versionText(), OTLP: os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"),
		Alert: func(c *config.Config) func(context.Context, precis.Alert) { return a.alert(c.Hooks.Alert) },
		Load:  func(path string) (*config.Config, error) { return config.Load(config.Sources{Path: path}) },
	}
}

// ownModel, as summarizer.model, is the model of each conversation.
const ownModel = "own"

// gatewayCondensing returns how a model condenses behind the gateway; nil when
// none does.
func (a *app) gatewayCondensing(c *config.Config, own *gateway.OwnModels) (*preset.Condensing, error) {
	s := c.Summarizer
	if s.Model == "" {
		return nil, nil
	}
	prompt := condense.Prompt{Template: s.Template}
	var err error
	if prompt.Custom, err = textOf(s.PromptFile, "summarizer.prompt_file"); err != nil {
		return nil, err
	}
	if prompt.Rules, err = textOf(s.RulesFile, "summarizer.rules_file"); err != nil {
		return nil, err
	}
	w := service.OwnWriter(own, prompt, s.MaxTokens)
	w.SelfCheck, w.Hooks = s.SelfCheck, hooks(c.Hooks)
	var model precis.Model
	if s.Model != ownModel {
		j := &job{cfg: c}
		if model, err = j.client(s); err != nil {
			return nil, err
		}
	}
	w.Model = model
	return &preset.Condensing{Writer: w, Mode: condense.Mode(s.Mode), Selective: s.Selective && model != nil}, nil
}
