package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/precis-dev/precis/host"
	"github.com/precis-dev/precis/host/hook"
)

// Hosts configures the checks of agent programs with precis installed.
type Hosts struct {
	Machine host.Machine
	State   string // folder with the state of hooks
}

// hostTime is the time limit for a check of an installed part.
const hostTime = 20 * time.Second

// hosts checks each program that precis is installed in: whether its files are unchanged, its
// settings let it work, the program that they call answers, and when it was last called.
func (e *exam) hosts(ctx context.Context) {
	if e.Hosts == nil {
		return
	}
	m := e.Hosts.Machine
	sums := map[string]hook.Sum{}
	for _, s := range hook.Sums(hook.Journal(e.Hosts.State)) {
		sums[s.Host] = s
	}
	for _, h := range host.Hosts() {
		in, err := h.Installed(m)
		switch {
		case err != nil:
			e.add("in "+h.Name, Bad, "precis install "+h.Name, "%v", err)
		case in.Version != "":
			e.host(ctx, h, in, sums[h.Name])
		}
	}
}

func (e *exam) host(ctx context.Context, h host.Host, in host.Installed, sum hook.Sum) {
	check, m := "in "+h.Name, e.Hosts.Machine
	before := len(e.findings)
	if in.Changed {
		e.add(check, Warn, "precis install "+h.Name,
			"a file is missing or was changed since it was installed")
	}
	for _, w := range h.Warnings(m) {
		e.add(check, Bad, "", "%s", w)
	}
	if why := faultOf(ctx, in.Binary); why != "" {
		e.add(check, Bad, "precis install "+h.Name+" writes the path anew", "%s: %s", in.Binary, why)
	}
	if h.Name == "codex" {
		if trusted, err := host.CodexTrusts(ctx, m); err != nil {
			e.add(check, Warn, "open codex and type /hooks", "whether Codex trusts the hook is not known: %v",
				err)
		} else if !trusted {
			e.add(check, Bad, "open codex and type /hooks, or precis install codex --trust",
				"Codex does not trust the hook yet, and skips it silently")
		}
	}
	loaded := hook.LastLoaded(e.Hosts.State, h.Name)
	if h.Name == "claude-code" && loaded.IsZero() && sum.Compactions > 0 {
		e.add(check, Warn, "start Claude Code anew in a folder that it trusts; docs/hosts.md says what else keeps modules out",
			"hooks only: Claude Code has not loaded precis's module, so its own model writes the summaries")
	}
	if sum.Failed > 0 {
		e.add(check, Warn, "precis stats hosts", "%d of %d calls failed, the last with: %s", sum.Failed,
			sum.Calls, sum.LastWhy)
	}
	if len(e.findings) > before {
		return
	}
	last := "not called yet"
	if !sum.Last.IsZero() {
		last = fmt.Sprintf("called last %s, %d compactions", sum.Last.Format(time.DateTime), sum.Compactions)
	}
	if !loaded.IsZero() {
		last = "it compacts itself, loaded last " + loaded.Format(time.DateTime) + "; " + last
	}
	e.ok(check, "installed and answering; %s", last)
}

// faultOf runs a program like an agent does, as a hook without work and as an MCP server, and
// returns the fault; "" if it works.
func faultOf(ctx context.Context, binary string) string {
	ctx, cancel := context.WithTimeout(ctx, hostTime)
	defer cancel()
	run := func(input string, args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, binary, args...)
		cmd.Stdin = strings.NewReader(input)
		cmd.Env = append(os.Environ(), hook.SilenceEnv+"=") // as in an agent
		cmd.WaitDelay = time.Second
		out, err := cmd.Output()
		return string(out), err
	}
	if out, err := run(`{"session_id":"doctor","source":"startup"}`, "hook", "claude-code",
		"session-start"); err != nil {
		return err.Error()
	} else if strings.TrimSpace(out) != "" {
		return "a hook with nothing to do says something"
	}
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"precis doctor","version":"1"}}}` + "\n"
	out, err := run(hello, "mcp")
	var answer struct {
		Result json.RawMessage `json:"result"`
	}
	first, _, _ := bytes.Cut([]byte(out), []byte("\n"))
	if json.Unmarshal(first, &answer) != nil || answer.Result == nil {
		return fmt.Sprintf("its MCP server does not answer (%v)", err)
	}
	return ""
}
