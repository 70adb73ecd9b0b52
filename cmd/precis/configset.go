package main

import (
	"cmp"
	"errors"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/config"
)

// setConfig writes one value into the configuration file, or removes it.
type setConfig struct {
	*command.Tools
	remove bool
}

func newConfigSet(t *command.Tools) *cobra.Command {
	c := &setConfig{Tools: t}
	return &cobra.Command{
		Use:   "set KEY VALUE",
		Short: "Write a value into the configuration file",
		Long: `Write a value into the configuration file: the one that --config or
PRECIS_CONFIG names, else your own, which is made when there is none. Comments,
order and everything else in it stay as they are. Lists are comma-separated. A
threshold of one profile or model is profiles.NAME; write -- before a value with
a minus.

Nothing is written when the value is not valid, or when it would not count
because the environment or a file of the current folder sets the same key. A
gateway that runs reads its file again within two seconds.`,
		Example: `  precis config set threshold 60
  precis config set keep.messages 10
  precis config set profiles.gpt-4o-mini 90
  precis config set profiles.gemini-2.5-pro -- -1
  precis config set rungs prune,digest,truncate,clip`,
		Args: command.Takes("KEY", "VALUE"),
		RunE: c.run,
	}
}

func newConfigUnset(t *command.Tools) *cobra.Command {
	c := &setConfig{Tools: t, remove: true}
	return &cobra.Command{
		Use:   "unset KEY",
		Short: "Take a value out of the configuration file",
		Long: `Take a value out of the configuration file, so that the preset or the default
counts again. Comments in lines of their own stay, and everything else does.`,
		Example: `  precis config unset threshold`,
		Args:    command.Takes("KEY"),
		RunE:    c.run,
	}
}

func (c *setConfig) run(cmd *cobra.Command, args []string) error {
	change := config.Change{Key: args[0], Remove: c.remove}
	if !c.remove {
		change.Value = args[1]
	}
	cfg, err := c.Jobs.Config()
	if err != nil {
		return err
	}
	if c.remove && cfg.File == "" {
		return &precis.Error{Code: precis.CodeNotFound, Op: "write configuration",
			Err: errors.New("there is no configuration file")}
	}
	now, err := cfg.Save(cmd.Context(), change)
	if err != nil {
		return err
	}
	for _, w := range now.Warnings {
		c.Warn("%s", w)
	}
	for _, r := range now.Rows() {
		if r.Key != change.Key {
			continue
		}
		r = r.Masked()
		if c.AsJSON {
			return c.JSON(r)
		}
		c.Text.Printf("%s: %s (%s)\n", r.Key, cmp.Or(r.Brief().Value, "–"), c.Words.Sentence(r.Origin))
		return nil
	}
	if c.AsJSON {
		return c.JSON(config.Row{Key: change.Key})
	}
	c.Text.Printf("%s: –\n", change.Key)
	return nil
}
