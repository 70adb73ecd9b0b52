package main

import (
	"os"

	"github.com/spf13/cobra"

	"precis/cmd/internal/config"
	"precis/cmd/internal/doctor"
	"precis/cmd/internal/launch"
	"precis/gateway"
	"precis/preset"
)

func (a *app) doctorCmd() *cobra.Command {
	var upstream, client string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the set-up of the gateway and say how to mend it",
		Long: `Check the set-up of the gateway, one line for each check: the configuration, the
store, the secret, keys, the address, upstreams, the summarizer, a scripted
conversation that must be condensed, and the clients on the PATH.

Upstreams are asked for their models; a key is sent only where ANTHROPIC_API_KEY
or OPENAI_API_KEY is set. The exit code is 1 when something does not work.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			load := func() (*config.Config, error) {
				cfg, err := a.opts.load()
				if err == nil && upstream != "" {
					cfg.Gateway.Upstream, cfg.Gateway.Anthropic, cfg.Gateway.OpenAI = upstream, "", ""
				}
				return cfg, err
			}
			all := doctor.Examine(cmd.Context(), doctor.Options{
				Load: load, Client: client, Env: os.Getenv,
				KeyEnv: func(c *config.Config) string { return keyEnv(c.Summarizer) },
				Condensing: func(c *config.Config) (*preset.Condensing, error) {
					return a.gatewayCondensing(c, &gateway.OwnModels{})
				},
			})
			return a.findings(all)
		},
	}
	cmd.Flags().StringVar(&upstream, "upstream", "", "`URL` of the model API to check in the place of the configured ones")
	cmd.Flags().StringVar(&client, "client", "", "look for the client `NAME` only")
	return cmd
}

// findings prints what was found. The error is the exit code.
func (a *app) findings(all []doctor.Finding) error {
	if a.opts.json {
		if err := a.printJSON(all); err != nil {
			return err
		}
	} else {
		styles := map[string]string{doctor.OK: "good", doctor.Warn: "warn", doctor.Bad: "bad"}
		for _, f := range all {
			a.term.Printf("%s  %s: %s\n", a.term.Style(styles[f.Level], pad(f.Level, 4)), f.Check, f.Text)
			if f.Hint != "" {
				a.term.Printf("      %s\n", a.term.Style("dim", f.Hint))
			}
		}
	}
	if doctor.AnyBad(all) {
		return launch.Exit(1)
	}
	return nil
}

func pad(s string, n int) string {
	for len(s) < n {
		s += " "
	}
	return s
}
