package clients

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/precis-dev/precis/internal/upstream"
)

// Modes of a run in the lab.
const (
	Alone   = "alone"   // the program by itself
	Inside  = "precis"  // precis is installed
	Gated   = "gate"    // precis is installed, and the program's model writes the summary
	Hanging = "hanging" // precis never answers
	Missing = "missing" // precis was removed after installing
	Broken  = "broken"  // precis prints garbage and fails
	Killed  = "killed"  // precis is killed
	Off     = "off"     // precis is installed, and hooks are switched off in mid-session
	Behind  = "gateway" // the program uses a gateway with a window so large that the program itself condenses
	Digest  = "digest"  // the program uses a gateway that answers requests for summaries
)

// HostOptions configures the lab.
type HostOptions struct {
	Cache   string // folder of the packages
	Precis  string // path of the program; absolute
	Files   int
	Timeout time.Duration
	Keep    string // folder for logs and bodies; "": keep none
	// Terminal runs the programs with sittings in a terminal, as a person does. It needs tmux.
	Terminal bool
}

// HostResult is the outcome of a run in the lab.
type HostResult struct {
	Name      string  `json:"name"`
	Mode      string  `json:"mode"`
	Error     string  `json:"error,omitempty"` // the reason why it could not run
	Done      bool    `json:"done"`            // the program finished its work
	Seconds   float64 `json:"seconds"`
	Requests  int     `json:"requests"`  // main ones
	Refused   int     `json:"refused"`   // as malformed
	Summaries int     `json:"summaries"` // requested from the model
	// main requests that do not continue the previous one, or are much smaller
	Compactions int `json:"compactions"`
	// First and Second are the numbers of planted facts, of four, in the first and the second main
	// request after a compaction; the lowest numbers count.
	First  int `json:"first"`
	Second int `json:"second"`
	Twice  int `json:"twice"` // requests with a text of precis twice
	// In a terminal: the lines by precis, output that persons should not see, and whether a session
	// begun anew knew a planted fact.
	Said  []string `json:"said,omitempty"`
	Noise []string `json:"noise,omitempty"`
	Leaks bool     `json:"leaks,omitempty"`
	// Same: after uninstalling, no file contains anything of precis. Tests without the programs,
	// which also write files, verify that the original bytes are restored.
	Same bool `json:"same"`
}

// Sound reports whether a run has the expected outcome.
func (r HostResult) Sound() bool {
	ok := r.Error == "" && r.Done && r.Refused == 0 && r.Twice == 0 && r.Compactions > 0 && !r.Leaks
	switch r.Mode {
	case Broken, Killed: // the program reports once that a hook failed
		ok = ok && len(r.Noise) <= 1
	default:
		ok = ok && len(r.Noise) == 0
	}
	switch r.Mode {
	case Inside:
		ok = ok && r.Second == len(plants) && r.Same
	case Gated:
		ok = ok && r.Second == len(plants) && r.Same && r.Summaries > 0
	case Behind:
		ok = ok && r.First == len(plants)
	case Digest:
		ok = ok && r.First == len(plants) && r.Summaries == 0
	}
	return ok
}

// mainRequest is one main request received by the model server.
type mainRequest struct {
	tokens int
	splice bool
	body   []byte
}

// RunHost runs one program of the lab.
func RunHost(ctx context.Context, s HostSetUp, mode string, o HostOptions) HostResult {
	r := HostResult{Name: s.Name, Mode: mode}
	dir, err := os.MkdirTemp("", "precis-host-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = (&lab{HostSetUp: s, o: o, dir: dir, mark: "PRECIS_CLIENT_RUN=" + rand.Text()}).run(ctx, mode,
			&r)
	}
	if err != nil {
		r.Error = err.Error()
	}
	return r
}

// lab is one run.
type lab struct {
	HostSetUp
	o    HostOptions
	dir  string
	mark string
}

func (l *lab) run(ctx context.Context, mode string, r *HostResult) error {
	b := &bench{o: Options{Cache: l.o.Cache, Files: l.o.Files}, dir: l.dir, mark: l.mark}
	p := &place{cache: l.o.Cache, home: filepath.Join(l.dir, "home"), config: filepath.Join(l.dir, "config"),
		project: filepath.Join(l.dir, "project")}
	logs := filepath.Join(l.dir, "logs")
	if l.o.Keep != "" {
		logs = filepath.Join(l.o.Keep, l.Name+"-"+mode)
	}
	for _, dir := range []string{logs, p.home, p.config, filepath.Join(l.dir, "tmp")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	files, err := writeProject(p.project, l.o.Files, FileBytes)
	if err != nil {
		return err
	}
	for _, n := range []int{1, 2} {
		if err := plant(files[n]); err != nil {
			return err
		}
	}
	var mu sync.Mutex
	var mains []mainRequest
	read := false  // the newest request shows that all files were read
	wiped := false // the session was begun anew
	window := l.window
	if mode == Behind || mode == Digest {
		window = 0 // otherwise the gateway learns it, and the program never condenses
	}
	server, err := upstream.Start(upstream.Options{
		Files: files, Window: window, LegacyThinking: l.legacy, Thinking: l.thinks, Latency: l.latency,
		Pause: l.pause, ParallelAt: l.parallel(),
		Delegate: l.delegate(),
		Observe: func(rec upstream.Record, _ http.Header, body []byte) {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case rec.Kind != upstream.Main || rec.Overflow:
			case l.o.Terminal && rec.Run != firstRun:
				// a conversation of another agent or of a session begun anew
				r.Leaks = r.Leaks || wiped && bytes.Contains(body, []byte(plantRule))
			default:
				read = rec.Step >= l.o.Files
				mains = append(mains, mainRequest{rec.Tokens, rec.Splice, bytes.Clone(body)})
			}
			if l.o.Keep != "" {
				// a lost copy changes no result
				_ = os.WriteFile(filepath.Join(logs, fmt.Sprintf("%04d-%s.json", rec.N, rec.Kind)), body,
					0o644)
			}
		},
	})
	if err != nil {
		return err
	}
	defer server.Close()
	defer sweep(l.mark)
	if l.o.Keep != "" { // keep the program's own recordings, too
		defer func() { _ = os.CopyFS(filepath.Join(logs, "home"), os.DirFS(p.home)) }()
	}
	p.base = server.URL
	if mode == Behind || mode == Digest {
		bridge := "missing"
		if mode == Digest {
			bridge = "digest"
		}
		shell := fmt.Sprintf("exec %q gateway --listen 127.0.0.1:$PORT --upstream %s --store memory --window 400000 --set gateway.bridge=%s --log-format text", l.o.Precis, server.URL, bridge)
		g, base, err := gateway(ctx, shell, b.environment(p), filepath.Join(logs, "gateway.log"))
		if err != nil {
			return err
		}
		defer g.stop()
		p.base = base
	}
	args, env, err := l.command(p, task+". "+plantRule)
	if err != nil {
		return err
	}
	env = append(b.environment(p), env...)
	if l.o.Terminal {
		if err := l.onboard(p); err != nil {
			return err
		}
	}
	if err := writeFile(filepath.Join(p.home, ".config", "precis", "config.yaml"),
		fmt.Sprintf("window: %d\n", small)); err != nil {
		return err
	}
	before, err := tree(l.dir, logs)
	if err != nil {
		return err
	}
	binary := filepath.Join(l.dir, "bin", "precis")
	if mode == Inside || mode == Gated || mode == Hanging || mode == Missing || mode == Broken ||
		mode == Killed || mode == Off {
		if err := l.install(ctx, binary, env, mode, p); err != nil {
			return err
		}
	}
	done := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return read
	}
	if l.o.Terminal {
		bare := slices.Delete(slices.Clone(args), 1, 3) // without -p and the task
		if err := l.sit(ctx, mode, bare, env, p, logs, r, func(line string) error {
			mu.Lock()
			defer mu.Unlock()
			wiped = wiped || line == wipe
			return nil
		}); err != nil {
			return err
		}
	}
	for turn := 0; !l.o.Terminal && turn == 0 || l.again != nil && turn < l.o.Files && !done(); turn++ {
		if turn > 0 {
			args = l.again(p)
		}
		if err := l.program(ctx, args, env, p, logs, r); err != nil {
			return err
		}
	}
	for _, words := range l.later(mode) {
		args, _, err := l.command(p, words[0])
		if err != nil {
			return err
		}
		if err := l.program(ctx, append(args, words[1:]...), env, p, logs, r); err != nil {
			return err
		}
	}
	mu.Lock()
	defer mu.Unlock()
	r.Done = r.Done || read // pi prints no text after a compaction
	r.judge(mains)
	stats := server.Stats()
	r.Refused, r.Summaries = len(stats.Refused), stats.Summaries
	if mode != Inside && mode != Gated {
		return nil
	}
	return l.uninstall(ctx, binary, env, before, logs, r)
}

// later returns the text to type once all files are read; only modes with precis have any.
func (l *lab) later(mode string) [][]string {
	if mode != Inside || l.o.Terminal {
		return nil
	}
	return l.then
}

// parallel is the number of the file that is requested together with the next one. It is never if
// turns end after a number of files.
func (l *lab) parallel() int {
	if l.pause > 0 {
		return -1
	}
	return 0
}

// delegate is the tool that the model uses to call another agent once, in a terminal.
func (l *lab) delegate() string {
	if !l.o.Terminal {
		return ""
	}
	return "Agent"
}

// firstRun is the model server's name for its first conversation.
const firstRun = "r1"

// plant inserts a planted fact near the beginning of a file, because some programs cut the middle
// of long results.
func plant(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	at := bytes.IndexByte(text[len(text)/20:], '\n') + len(text)/20 + 1
	line := fmt.Sprintf("%s after %s ms (%s:218)\n", plantError, plantNumber, plantFile)
	return os.WriteFile(path, append(append(bytes.Clone(text[:at]), line...), text[at:]...), 0o644)
}

// install installs precis and then, in some modes, breaks it.
func (l *lab) install(ctx context.Context, binary string, env []string, mode string, p *place) error {
	if err := os.MkdirAll(filepath.Dir(binary), 0o755); err != nil {
		return err
	}
	if err := os.Link(l.o.Precis, binary); err != nil {
		if err := copyFile(l.o.Precis, binary); err != nil {
			return err
		}
	}
	path := "PATH=" + filepath.Join(l.pkg.modules(l.o.Cache), ".bin") + string(filepath.ListSeparator) +
		nodeDir(l.o.Cache) + string(filepath.ListSeparator) + os.Getenv("PATH")
	flags := l.flags
	if mode == Gated {
		flags = append([]string{"--model-summary"}, flags...)
	}
	args := append([]string{"install", cmp.Or(l.host, l.Name)}, flags...)
	if _, err := l.precis(ctx, binary, append(env, path), args...); err != nil {
		return err
	}
	if l.validate != nil {
		args := l.validate(p, filepath.Join(p.home, ".local", "share", "precis", "hosts", "plugins"))
		if err := runIn(ctx, p.project, args, env); err != nil {
			return err
		}
	}
	if mode == Inside || mode == Gated || mode == Off {
		return nil
	}
	if err := os.Remove(binary); err != nil {
		return err
	}
	switch mode {
	case Hanging:
		return os.WriteFile(binary, []byte("#!/bin/sh\nexec sleep 600\n"), 0o755)
	case Killed:
		return os.WriteFile(binary, []byte("#!/bin/sh\nkill -9 $$\n"), 0o755)
	case Broken:
		return os.WriteFile(binary, []byte("#!/bin/sh\necho '{\"hookSpecificOutput\": nonsense'\necho broken >&2\nexit 3\n"), 0o755)
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// precis runs precis.
func (l *lab) precis(ctx context.Context, binary string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("precis %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return string(out), nil
}

// program runs the agent program to its end.
func (l *lab) program(ctx context.Context, args, env []string, p *place, logs string, r *HostResult) error {
	ctx, cancel := context.WithTimeout(ctx, l.o.Timeout)
	defer cancel()
	log := filepath.Join(logs, "client.log")
	begin := time.Now()
	c, err := start(ctx, command{args: args, env: env, dir: p.project}, log)
	if err != nil {
		return err
	}
	<-c.done
	c.stop()
	r.Seconds += time.Since(begin).Seconds()
	text, err := os.ReadFile(log)
	r.Done = r.Done || strings.Contains(string(text), upstream.Done)
	return err
}

// tree returns the files below a folder with their content, except those in some subfolders.
func tree(root string, without ...string) (map[string]string, error) {
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		for _, w := range without {
			if path == w {
				return filepath.SkipDir
			}
		}
		if !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		out[path] = string(data)
		return err
	})
	return out, err
}

// uninstall uninstalls precis and compares the files with those from before.
func (l *lab) uninstall(ctx context.Context, binary string, env []string, before map[string]string,
	logs string, r *HostResult) error {
	stats, err := l.precis(ctx, binary, env, "stats", "hosts")
	if err != nil {
		return err
	}
	if _, err := l.precis(ctx, binary, env, "uninstall", cmp.Or(l.host, l.Name)); err != nil {
		return err
	}
	after, err := tree(l.dir, logs)
	if err != nil {
		return err
	}
	r.Same = true
	for path := range before {
		// programs change their settings themselves, but must not write anything of precis
		if strings.Contains(after[path], "precis") && !strings.Contains(before[path], "precis") {
			r.Same = false
			stats += "\nnot taken out of " + path + ":\n" + after[path]
		}
	}
	for path := range after {
		rest, _ := filepath.Rel(l.dir, path)
		if _, old := before[path]; !old && strings.HasPrefix(filepath.Base(path), "precis.") &&
			!strings.HasPrefix(rest, "tmp") {
			r.Same = false
			stats += "\nleft behind: " + path
		}
	}
	return os.WriteFile(filepath.Join(logs, "stats.txt"), []byte(stats), 0o644)
}
