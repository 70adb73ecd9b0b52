package doctor

import (
	"context"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/precis-dev/precis/cmd/internal/launch"
)

// clients looks for programs on the PATH and reports how to direct them to the gateway.
func (e *exam) clients(ctx context.Context) {
	known := launch.Clients()
	found := make([]*Finding, len(known))
	var wait sync.WaitGroup
	for i, c := range known {
		if len(c.Commands) == 0 || e.Client != "" && e.Client != c.Name {
			continue
		}
		wait.Go(func() { found[i] = e.client(ctx, c) })
	}
	wait.Wait()
	any := false
	for _, f := range found {
		if f != nil {
			e.findings = append(e.findings, *f)
			any = true
		}
	}
	switch {
	case any:
	case e.Client != "":
		e.add("client "+e.Client, Bad, "one of "+strings.Join(launch.Names(), ", ")+"; is it on the PATH?",
			"it is not there")
	default:
		e.add("clients", Warn, "precis run -- COMMAND runs any other",
			"none of those that are known is on the PATH")
	}
}

var version = regexp.MustCompile(`\d+\.\d+(\.\d+)?\S*`)

// client returns a finding for a program; nil if it is not installed.
func (e *exam) client(ctx context.Context, c launch.Client) *Finding {
	for _, name := range c.Commands {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, path, "--version")
		cmd.WaitDelay = time.Second
		out, err := cmd.Output()
		text := name + " " + version.FindString(string(out))
		if err != nil {
			text = name + ", which does not tell its version"
		}
		by := "http://" + e.cfg.Gateway.Listen
		return &Finding{Check: "client " + c.Name, Level: OK,
			Text: strings.TrimSpace(text) + ": precis run -- " + name,
			Hint: "or: " + strings.NewReplacer("%[1]s", by, "%s", by).Replace(c.HowTo)}
	}
	return nil
}
