package agents

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/cmd/internal/doctor"
	"github.com/precis-dev/precis/cmd/internal/jobs"
	"github.com/precis-dev/precis/cmd/internal/launch"
	"github.com/precis-dev/precis/gateway/ownmodel"
	"github.com/precis-dev/precis/preset"
)

// examine checks the setup of the gateway.
type examine struct {
	*command.Tools
	upstream, client string
}

// NewDoctor makes the command doctor.
func NewDoctor(t *command.Tools) *cobra.Command {
	c := &examine{Tools: t}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the set-up of the gateway and say how to mend it",
		Long: `Check the set-up of the gateway, one line for each check: the configuration, the
store, the secret, keys, the address, upstreams, the windows of models that the
running gateway has doubts about, the summarizer, a scripted conversation that
must be condensed, the clients on the PATH, and the agents in which precis is
installed: their files and settings, whether Codex trusts the hook, whether
precis answers as they call it, and when it was called last.

Upstreams are asked for their models; a key is sent only where ANTHROPIC_API_KEY
or OPENAI_API_KEY is set. The exit code is 1 when something does not work.`,
		Example: `  precis doctor
  precis doctor --client claude`,
		Args: command.Takes(),
		RunE: c.run,
	}
	cmd.Flags().StringVar(&c.upstream, "upstream", "",
		"`URL` of the model API to check in the place of the configured ones")
	cmd.Flags().StringVar(&c.client, "client", "", "look for the client `NAME` only")
	return cmd
}

func (c *examine) run(cmd *cobra.Command, _ []string) error {
	hosts, err := installedHosts(c.Version)
	if err != nil {
		return err
	}
	all := doctor.Examine(cmd.Context(), doctor.Options{
		Hosts: hosts,
		Load:  c.load, Client: c.client, Env: os.Getenv,
		KeyEnv: func(cfg *config.Config) string { return jobs.KeyEnv(cfg.Summarizer) },
		Condensing: func(cfg *config.Config) (*preset.Condensing, error) {
			return c.Jobs.GatewayCondensing(cfg, &ownmodel.Models{})
		},
	})
	return c.findings(all)
}

// installedHosts returns where to check hooks and plugins of a version of precis.
func installedHosts(version string) (*doctor.Hosts, error) {
	m, err := machine(version)
	if err != nil {
		return nil, err
	}
	return &doctor.Hosts{Machine: m, State: stateFolder(m.Home)}, nil
}

// load returns the effective configuration, with the upstream of the flag.
func (c *examine) load() (*config.Config, error) {
	cfg, err := c.Jobs.Config()
	if err == nil && c.upstream != "" {
		cfg.Gateway.Upstream, cfg.Gateway.Anthropic, cfg.Gateway.OpenAI = c.upstream, "", ""
	}
	return cfg, err
}

// findings prints the findings. The error is the exit code.
func (c *examine) findings(all []doctor.Finding) error {
	if c.AsJSON {
		if err := c.JSON(all); err != nil {
			return err
		}
	} else {
		styles := map[string]string{doctor.OK: "good", doctor.Warn: "warn", doctor.Bad: "bad"}
		for _, f := range all {
			c.Text.Printf("%s  %s: %s\n", c.Text.Style(styles[f.Level], pad(f.Level, 4)),
				c.Words.Sentence(f.Check), c.Words.Sentence(f.Text))
			if f.Hint != "" {
				c.Text.Printf("      %s\n", c.Text.Style("dim", c.Words.Sentence(f.Hint)))
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
