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

	"github.com/precis-dev/precis/internal/upstream"
)

// sitting is one start of a program in a terminal: further flags, and the lines to type.
type sitting struct {
	flags []string
	typed []string
}

// wipe is typed to begin a new session, which must not know any planted fact.
const wipe = "/clear"

// terminal is a program in a terminal emulated by tmux.
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

// escape stands for that key, which closes a menu.
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
	for range 50 { // otherwise the program may take the key as a part of the pasted text
		time.Sleep(300 * time.Millisecond)
		if text, err := t.tmux(ctx, "capture-pane", "-p"); err != nil ||
			strings.Contains(text, line[:min(len(line), 20)]) {
			break
		}
	}
	_, err := t.tmux(ctx, "send-keys", "Enter")
	return err
}

// rest waits until the screen has not changed for a while, and returns its text, scrolled lines
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

// terminalEnv returns an environment without variables that disable terminal output.
func terminalEnv(env []string) (out []string) {
	for _, v := range env {
		if name, _, _ := strings.Cut(v, "="); name != "CI" && name != "TERM" && name != "NO_COLOR" {
			out = append(out, v)
		}
	}
	return append(out, "TERM=xterm-256color")
}

// sit uses the program in a terminal, starting it once for each sitting. In modes without precis it
// runs only the first one. If hooks are to be switched off, it does so after a manual compaction.
// It calls before with each line to be typed.
func (l *lab) sit(ctx context.Context, mode string, args, env []string, p *place, logs string, r *HostResult,
	before func(line string) error) error {
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
		sittings = []sitting{{nil, slices.Insert(slices.Clone(sittings[0].typed), 3,
			"/plugin disable precis@precis", escape, "")}}
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
		_, _ = t.tmux(context.WithoutCancel(ctx), "kill-server") // fails if it has ended
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
	// ownLine is precis's text about a compaction; it may wrap.
	ownLine = regexp.MustCompile(`(?m)^● precis: (.*(?:\n  \S.*)*)$`)
	// noise is output that persons should not see: JSON of hooks, and errors of hooks and plugins.
	noise = regexp.MustCompile(`(?mi)^.*(?:hookSpecificOutput|\{"[a-z_]+":|hook (?:error|failed|cancelled|timed out)|plugin error).*$`)
)

// see examines the text on a terminal.
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
