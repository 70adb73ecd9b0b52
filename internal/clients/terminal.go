package clients

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"precis/internal/upstream"
)

// sitting is one start of a program in a terminal: further flags of its command line, and what is typed, a line each.
type sitting struct {
	flags []string
	typed []string
}

// wipe is typed to begin anew; nothing of what was planted may be known behind it.
const wipe = "/clear"

// terminal is a program in a terminal that tmux draws, as a person sees it.
type terminal struct {
	socket string
	env    []string
}

// The size of the terminal, in characters.
const (
	columns = 110
	rows    = 50
)

// tmux runs a command of tmux and returns what it prints.
func (t terminal) tmux(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "tmux", append([]string{"-S", t.socket, "-f", os.DevNull}, args...)...)
	cmd.Env = t.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, out)
	}
	return string(out), nil
}

// open starts a program in a directory.
func (t terminal) open(ctx context.Context, dir string, args []string) error {
	begin := []string{"new-session", "-d", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(rows), "-c", dir}
	_, err := t.tmux(ctx, append(begin, args...)...)
	return err
}

// escape is the key of that name, which closes a menu.
const escape = "Escape"

// enter types a line, or the key escape.
func (t terminal) enter(ctx context.Context, line string) error {
	if line == escape {
		_, err := t.tmux(ctx, "send-keys", escape, escape)
		return err
	}
	if _, err := t.tmux(ctx, "send-keys", "-l", line); err != nil {
		return err
	}
	for range 50 { // else the program may take the key for a part of what is pasted
		time.Sleep(300 * time.Millisecond)
		if text, err := t.tmux(ctx, "capture-pane", "-p"); err != nil || strings.Contains(text, line[:min(len(line), 20)]) {
			break
		}
	}
	_, err := t.tmux(ctx, "send-keys", "Enter")
	return err
}

// rest waits until the screen has not changed for a while, and returns all that it shows, lines that have scrolled away
// included.
func (t terminal) rest(ctx context.Context) (string, error) {
	const step, quiet = 200 * time.Millisecond, 10
	was, same := "", 0
	for same < quiet {
		text, err := t.tmux(ctx, "capture-pane", "-p", "-S", "-")
		if err != nil {
			return was, err
		}
		if same++; text != was {
			was, same = text, 0
		}
		select {
		case <-ctx.Done():
			return was, ctx.Err()
		case <-time.After(step):
		}
	}
	return was, nil
}

// terminalEnv is an environment without what keeps programs from drawing.
func terminalEnv(env []string) (out []string) {
	for _, v := range env {
		if name, _, _ := strings.Cut(v, "="); name != "CI" && name != "TERM" && name != "NO_COLOR" {
			out = append(out, v)
		}
	}
	return append(out, "TERM=xterm-256color")
}

// sit has a person use the program in a terminal: it is started once for each of the sittings. Where precis does not work
// there is only the first; where it is switched off, that is done behind a compaction by hand. It calls before with each line that is about to be typed.
func (l *lab) sit(ctx context.Context, mode string, args, env []string, p *place, logs string, r *HostResult, before func(line string) error) error {
	ctx, cancel := context.WithTimeout(ctx, l.o.Timeout)
	defer cancel()
	begin := time.Now()
	var all strings.Builder
	see := func(doing, text string) {
		fmt.Fprintf(&all, "===== %s\n%s\n", doing, strings.TrimRight(text, " \n"))
		r.see(text)
	}
	sittings := l.sittings
	if mode != Inside {
		sittings = sittings[:1]
	}
	if mode == Off {
		sittings = []sitting{{nil, slices.Insert(slices.Clone(sittings[0].typed), 3, "/plugin disable precis@precis", escape, "")}}
	}
	var err error
	for i, s := range sittings {
		t := terminal{socket: filepath.Join(l.dir, fmt.Sprint("tmux", i)), env: terminalEnv(env)}
		if err = t.open(ctx, p.project, slices.Concat(args, s.flags)); err != nil {
			break
		}
		text, wrong := t.rest(ctx)
		see(strings.Join(append([]string{l.Name}, s.flags...), " "), text)
		for _, line := range s.typed {
			if wrong == nil {
				wrong = before(line)
			}
			if wrong == nil {
				wrong = t.enter(ctx, line)
			}
			if wrong == nil {
				text, wrong = t.rest(ctx)
				see(line, text)
			}
		}
		_, _ = t.tmux(context.WithoutCancel(ctx), "kill-server") // it may have ended
		if err = wrong; err != nil {
			break
		}
	}
	if mode == Inside && l.says && len(r.Said) == 0 {
		r.Noise = append(r.Noise, "nothing is said of a compaction")
	}
	r.Seconds = time.Since(begin).Seconds()
	if lost := os.WriteFile(filepath.Join(logs, "terminal.txt"), []byte(all.String()), 0o644); err == nil {
		err = lost
	}
	return err
}

var (
	// ownLine is what precis says of a compaction, perhaps on two lines.
	ownLine = regexp.MustCompile(`(?m)^● precis: (.*(?:\n  \S.*)*)$`)
	// noise is what nobody may read: JSON of hooks, and errors of hooks and plugins.
	noise = regexp.MustCompile(`(?mi)^.*(?:hookSpecificOutput|\{"[a-z_]+":|hook (?:error|failed|cancelled|timed out)|plugin error).*$`)
)

// see looks at what a terminal shows.
func (r *HostResult) see(text string) {
	r.Done = r.Done || strings.Contains(text, upstream.Done)
	for _, m := range ownLine.FindAllStringSubmatch(text, -1) {
		if line := strings.Join(strings.Fields(m[1]), " "); !slices.Contains(r.Said, line) {
			r.Said = append(r.Said, line)
		}
	}
	for _, line := range noise.FindAllString(text, -1) {
		if line = strings.TrimSpace(line); !slices.Contains(r.Noise, line) {
			r.Noise = append(r.Noise, line)
		}
	}
}
