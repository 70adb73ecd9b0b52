package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis/cmd/internal/command"
)

// version is set by the release build; a build from source uses Go's build information.
var version = ""

// printVersion prints the version.
type printVersion struct{ *command.Tools }

func newVersion(t *command.Tools) *cobra.Command {
	c := &printVersion{t}
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Example: `  precis version
  precis version --json`,
		Args: command.Takes(),
		RunE: c.run,
	}
}

func (c *printVersion) run(*cobra.Command, []string) error {
	v, commit, date := versionText(), "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		commit, date = commitOf(info)
	}
	if c.AsJSON {
		out := map[string]string{"version": v, "go": runtime.Version()}
		if commit != "" {
			out["commit"], out["date"] = commit, date
		}
		return c.JSON(out)
	}
	if commit != "" {
		v += " (commit " + commit + ", " + date + ")"
	}
	c.Text.Printf("precis %s %s\n", v, runtime.Version())
	return nil
}

// commitOf returns the commit that a program was built from, with a plus sign if files had changed,
// and its time; "": unknown.
func commitOf(info *debug.BuildInfo) (commit, date string) {
	changed := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value
		case "vcs.modified":
			changed = s.Value == "true"
		case "vcs.time":
			date = s.Value
		}
	}
	if commit != "" && changed {
		commit += "+"
	}
	return commit, date
}

func versionText() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "devel"
	}
	return info.Main.Version
}
