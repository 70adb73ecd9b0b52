// Package agents answers: how does precis work inside agent programs, and does it work there? It
// has the commands install, uninstall, hook, statusline, status, stats and doctor.
package agents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/term"
	"github.com/precis-dev/precis/host"
	"github.com/precis-dev/precis/internal/atomicfile"
)

// install installs precis into agent programs, or removes it.
type install struct {
	*command.Tools
	removes    bool
	list, dry  bool
	trust, all bool
	model      bool
}

// NewInstall makes the command install.
func NewInstall(t *command.Tools) *cobra.Command {
	c := &install{Tools: t}
	cmd := &cobra.Command{
		Use:   "install [AGENT …]",
		Short: "Put precis into agent programs, without a gateway",
		Long: `Put precis into an agent program, so that nothing is lost when the program
compacts by itself: hooks, a plugin or an extension, whatever the program has.
No gateway runs then, and no model is called. Without a name the agents that are
found on this machine are listed, with what each would get.

Files of precis's own are written where the program reads such; in a file of
yours single members are added, and every other byte stays. precis uninstall
gives each file back as it was. A second installation changes only what is
different, such as the path of precis.`,
		Example: `  precis install
  precis install claude-code --dry-run
  precis install claude-code codex
  precis uninstall claude-code`,
		RunE: c.run,
	}
	cmd.Flags().BoolVar(&c.list, "list", false,
		"list all agents that are known, and where precis is installed")
	cmd.Flags().BoolVar(&c.dry, "dry-run", false, "print what would be written, and write nothing")
	cmd.Flags().BoolVar(&c.trust, "trust", false,
		"have Codex trust the hook, which it otherwise asks you to do")
	cmd.Flags().BoolVar(&c.model, "model-summary", false,
		"leave the summary to the agent's model, and add what it lacks, where precis would write it itself (opencode)")
	return cmd
}

// NewUninstall makes the command uninstall.
func NewUninstall(t *command.Tools) *cobra.Command {
	c := &install{Tools: t, removes: true}
	cmd := &cobra.Command{
		Use:   "uninstall AGENT …",
		Short: "Take precis out of agent programs; gives each file back as it was",
		Long: `Take precis out of agent programs. A file that nobody has changed since is given
back byte for byte; from one that was changed only what is precis's own is taken
out. A changed file of precis's own is kept beside, with .saved at its end.
With the last agent goes what hooks remembered of sessions, and the cache.`,
		Example: `  precis uninstall codex
  precis uninstall --all --dry-run`,
		RunE: c.run,
	}
	cmd.Flags().BoolVar(&c.dry, "dry-run", false, "print what would be written, and write nothing")
	cmd.Flags().BoolVar(&c.all, "all", false, "out of all in which it is")
	return cmd
}

// dataFolder is the folder of precis's own files: $XDG_DATA_HOME/precis.
func dataFolder(home string) string { return ownFolder("XDG_DATA_HOME", home, ".local", "share") }

// stateFolder is the folder of hooks' state: $XDG_STATE_HOME/precis/hooks.
func stateFolder(home string) string {
	return filepath.Join(ownFolder("XDG_STATE_HOME", home, ".local", "state"), "hooks")
}

func ownFolder(variable, home string, otherwise ...string) string {
	base := os.Getenv(variable)
	if !filepath.IsAbs(base) {
		base = filepath.Join(append([]string{home}, otherwise...)...)
	}
	return filepath.Join(base, "precis")
}

// machine describes this machine, with precis in a version.
func machine(version string) (host.Machine, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return host.Machine{}, precis.Errorf(precis.CodeInternal, "find home folder", "%w", err)
	}
	binary, err := binaryPath()
	if err != nil {
		return host.Machine{}, precis.Errorf(precis.CodeInternal, "find precis", "%w", err)
	}
	return host.Machine{Home: home, Data: filepath.Join(dataFolder(home), "hosts"), State: stateFolder(home),
		Binary: binary, Version: version, Env: os.Getenv}, nil
}

// binaryPath returns the path of precis for agents. It prefers the path in PATH if that is this
// program, because that path survives upgrades.
func binaryPath() (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", err
	}
	if path, err := exec.LookPath("precis"); err == nil {
		if path, err = filepath.Abs(path); err == nil && sameFile(path, own) {
			return path, nil
		}
	}
	return own, nil
}

// passing are parts of paths of programs that are deleted some time after they were started.
var passing = []string{"go-build", "_npx"} // "go run" and "npx"

// lasting returns the path of precis for agents. If this program will be deleted, it copies the
// program to the data folder and returns the path of the copy.
func lasting(m host.Machine, dry bool) (string, error) {
	if !slices.ContainsFunc(passing, func(part string) bool { return strings.Contains(m.Binary, part) }) {
		return m.Binary, nil
	}
	to := filepath.Join(m.Data, programs, filepath.Base(m.Binary))
	if dry {
		return to, nil
	}
	program, err := os.ReadFile(m.Binary)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = atomicfile.Write(to, program)
	}
	if err == nil {
		err = os.Chmod(to, 0o755)
	}
	if err != nil {
		return "", precis.Errorf(precis.CodeInternal, "copy precis", "%w", err)
	}
	return to, nil
}

// programs is the folder of copies of precis in the data folder.
const programs = "bin"

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// installed is a program in the list of agents.
type installed struct {
	Agent     string   `json:"agent"`
	Title     string   `json:"title"`
	Does      string   `json:"does"`
	TriedWith string   `json:"tried_with"`
	Found     bool     `json:"found"`
	Version   string   `json:"version,omitempty"` // of the installed precis; "": not installed
	Binary    string   `json:"binary,omitempty"`
	Changed   bool     `json:"changed,omitempty"` // an installed file is missing or was changed since
	After     string   `json:"after,omitempty"`   // steps left to the user
	Warnings  []string `json:"warnings,omitempty"`
}

func (c *install) run(cmd *cobra.Command, names []string) error {
	m, err := machine(c.Version)
	if err != nil {
		return err
	}
	switch {
	case c.removes && c.all && len(names) == 0:
		if names, err = installedAgents(m); err != nil {
			return err
		}
		if len(names) == 0 {
			c.Line("precis is installed nowhere")
			return nil
		}
	case c.removes && (c.all || len(names) == 0):
		return &precis.Error{Code: precis.CodeInvalid, Op: "read arguments",
			Err: errors.New("name the agents, or --all"), Hint: "precis install --list shows where it is"}
	case c.list || len(names) == 0:
		return c.listAgents(m, names)
	}
	m.ModelSummary = c.model
	var hosts []host.Host
	for _, name := range names {
		h, err := host.Named(name)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(hosts, func(other host.Host) bool { return other.Name == h.Name }) {
			hosts = append(hosts, h)
		}
		if c.model && !h.OffersModelSummary() {
			return &precis.Error{Code: precis.CodeInvalid, Op: "read arguments", Place: "--model-summary",
				Err:  fmt.Errorf("there is no such choice in %s", h.Title),
				Hint: "only where precis can write the summary and check one: opencode"}
		}
	}
	if !c.removes {
		if m.Binary, err = lasting(m, c.dry); err != nil {
			return err
		}
	}
	var plans []*host.Plan
	for _, h := range hosts { // make all plans before the first write
		p, err := c.plan(h, m)
		if err != nil {
			return err
		}
		plans = append(plans, p)
	}
	return c.apply(cmd.Context(), m, plans)
}

// installedAgents returns the agents that have precis installed.
func installedAgents(m host.Machine) (names []string, err error) {
	for _, h := range host.Hosts() {
		in, err := h.Installed(m)
		if err != nil {
			return nil, err
		}
		if in.Version != "" {
			names = append(names, h.Name)
		}
	}
	return names, nil
}

func (c *install) plan(h host.Host, m host.Machine) (*host.Plan, error) {
	if c.removes {
		return h.Removal(m)
	}
	return h.Plan(m)
}

// planned is a plan as JSON.
type planned struct {
	Agent   string        `json:"agent"`
	Applied bool          `json:"applied"`
	Files   []plannedFile `json:"files"`
}

type plannedFile struct {
	Path   string `json:"path"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	New    bool   `json:"new,omitempty"`
	Gone   bool   `json:"gone,omitempty"`
}

func (c *install) apply(ctx context.Context, m host.Machine, plans []*host.Plan) error {
	var out []planned
	for _, p := range plans {
		if !c.dry {
			if err := p.Apply(ctx); err != nil {
				return err
			}
		}
		if c.AsJSON {
			one := planned{Agent: p.Host.Name, Applied: !c.dry, Files: []plannedFile{}}
			for _, f := range p.Changes {
				one.Files = append(one.Files,
					plannedFile{f.Path, string(f.Before), string(f.After), f.Before == nil, f.After == nil})
			}
			out = append(out, one)
		} else {
			c.printChanges(p, m)
		}
		if c.trust && !c.removes && !c.dry && p.Host.Name == "codex" {
			if err := host.TrustCodex(ctx, m); err != nil {
				return err
			}
			if !c.AsJSON {
				c.Text.Printf("  %s\n", c.Words.Text("trusted  the hook, by Codex itself"))
			}
		}
	}
	if c.removes && !c.dry && slices.ContainsFunc(plans,
		func(p *host.Plan) bool { return len(p.Changes) > 0 }) {
		if err := removeState(m); err != nil {
			return err
		}
	}
	if c.AsJSON {
		return c.JSON(out)
	}
	return nil
}

// removeState removes hooks' state and caches once precis is in no agent any more.
func removeState(m host.Machine) error {
	if left, err := installedAgents(m); err != nil || len(left) > 0 {
		return err
	}
	folders := []string{m.State, filepath.Join(m.Data, "installed"), filepath.Join(m.Data, programs)}
	if dir, err := os.UserCacheDir(); err == nil {
		folders = append(folders, filepath.Join(dir, "precis"))
	}
	for _, dir := range folders {
		if err := os.RemoveAll(dir); err != nil {
			return precis.Errorf(precis.CodeInternal, "forget what hooks remembered", "%w", err)
		}
		_ = os.Remove(filepath.Dir(dir)) // fails if the folder is not empty
	}
	_ = os.Remove(filepath.Dir(m.Data))
	return nil
}

// printChanges prints the changes made, or with --dry-run the planned ones.
func (c *install) printChanges(p *host.Plan, m host.Machine) {
	c.Text.Title("%s", p.Host.Title)
	if len(p.Changes) == 0 {
		if p.Removes {
			c.Text.Printf("  %s\n", c.Words.Text("nothing of precis is there"))
		} else {
			c.Text.Printf("  %s\n", c.Words.Text("nothing to change: precis is installed"))
		}
	}
	for _, f := range p.Changes {
		c.Text.Printf("  %s\n", c.Words.Sentence(f.String()))
		if c.dry {
			for _, line := range diffLines(string(f.Before), string(f.After)) {
				c.Text.Printf("    %s\n", c.Text.Style(map[byte]string{'+': "good", '-': "bad"}[line[0]],
					line))
			}
		}
		if f.Saved != "" {
			c.Text.Printf("    %s\n", c.Words.Text("what was changed in it is kept in %s", f.Saved))
		}
	}
	if p.Removes {
		return
	}
	for _, w := range p.Host.Warnings(m) {
		c.Warn("%s", w)
	}
	if p.Host.NextSteps != "" && !(c.trust && p.Host.Name == "codex") {
		c.Text.Printf("  %s\n", c.Words.Sentence(p.Host.NextSteps))
	}
}

// diffLines returns the lines that differ between two settings, with a few unchanged lines around
// them. Common text at both ends is left out.
func diffLines(before, after string) []string {
	a, b := strings.Split(strings.TrimSuffix(before, "\n"),
		"\n"), strings.Split(strings.TrimSuffix(after, "\n"), "\n")
	if before == "" {
		a = nil
	}
	if after == "" {
		b = nil
	}
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	end := 0
	for end < len(a)-from && end < len(b)-from && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	var out []string
	add := func(sign string, lines []string) {
		for _, line := range lines {
			out = append(out, sign+" "+strings.TrimSuffix(line, "\r"))
		}
	}
	if from > 0 {
		add(" ", a[from-1:from])
	}
	add("-", a[from:len(a)-end])
	add("+", b[from:len(b)-end])
	if end > 0 {
		add(" ", a[len(a)-end:len(a)-end+1])
	}
	return out
}

// listAgents lists the agents that are found or installed; with --list, all of them.
func (c *install) listAgents(m host.Machine, names []string) error {
	var list []installed
	for _, h := range host.Hosts() {
		in, err := h.Installed(m)
		if err != nil {
			return err
		}
		one := installed{h.Name, h.Title, h.Effect, h.Version, h.Found(m), in.Version, in.Binary, in.Changed,
			h.NextSteps, nil}
		if in.Version != "" {
			one.Warnings = h.Warnings(m)
		}
		if one.Found || one.Version != "" || c.list {
			list = append(list, one)
		}
	}
	if len(names) > 0 {
		return &precis.Error{Code: precis.CodeInvalid, Op: "read arguments",
			Err: errors.New("--list takes no names")}
	}
	if c.AsJSON {
		return c.JSON(list)
	}
	if len(list) == 0 {
		c.Line("No agent that precis knows was found here; precis install --list names them.")
		return nil
	}
	missing := ""
	for _, one := range list {
		state := c.Text.Style("dim", c.Words.Text("not found here"))
		switch {
		case one.Version != "" && one.Changed:
			state = c.Text.Style("warn", c.Words.Text("installed, and changed since: precis install %s",
				one.Agent))
		case one.Version != "":
			state = c.Text.Style("good", c.Words.Text("installed"))
		case one.Found:
			state = c.Words.Text("not installed")
			missing += " " + one.Agent
		}
		c.Text.Printf("%s  %s\n", c.Text.Style("title", term.Pad(one.Agent, 12)), state)
		c.Text.Hanging("    " + one.Title + ": " + c.Words.Sentence(one.Does))
		for _, w := range one.Warnings {
			c.Warn("%s", w)
		}
	}
	if missing != "" {
		c.Text.Printf("\n%s\n", c.Words.Text("To install: precis install%s", missing))
	}
	return nil
}
