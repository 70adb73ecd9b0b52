package clients

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/precis-dev/precis/internal/upstream"
)

// Options configures runs.
type Options struct {
	Cache    string // folder of the packages
	Gateway  string // a shell command, see the package; "": none
	Files    int    // number of files to read
	Bytes    int    // approximate size of a file; 0: [FileBytes]
	Timeout  time.Duration
	Keep     string           // folder for logs and bodies; "": keep none
	Upstream upstream.Options // the run sets Files
}

// Result is the outcome of a run.
type Result struct {
	Name    string  `json:"name"`
	Dialect string  `json:"dialect"`
	Error   string  `json:"error,omitempty"` // the reason why it could not run
	Exit    int     `json:"exit"`            // -1: the client was killed
	Timeout bool    `json:"timeout,omitempty"`
	Done    bool    `json:"done"` // the client printed the agent's last words
	Seconds float64 `json:"seconds"`
	// Traffic of the client.
	Requests    int    `json:"requests"`
	Begun       int    `json:"begun"` // files with their text in a request
	Whole       int    `json:"whole"` // files with their complete text in a request
	Overflows   int    `json:"overflows"`
	Compactions int    `json:"compactions"` // summaries requested by the client
	Errors      int    `json:"errors"`      // other failed requests to a model
	LastError   string `json:"last_error,omitempty"`
	Output      string `json:"output,omitempty"` // its last line
	// Traffic at the model server.
	Upstream upstream.Stats `json:"upstream"`
	Share    float64        `json:"cache_share"`
}

// Run runs a setup. Errors are in the result.
func Run(ctx context.Context, s SetUp, o Options) Result {
	r := Result{Name: s.Name, Dialect: s.Dialect, Exit: -1}
	if ctx.Err() != nil {
		r.Error = ctx.Err().Error()
		return r
	}
	dir, err := os.MkdirTemp("", "precis-client-")
	if err != nil {
		r.Error = err.Error()
		return r
	}
	defer os.RemoveAll(dir)
	if err := (&bench{SetUp: s, o: o, dir: dir, mark: "PRECIS_CLIENT_RUN=" + rand.Text()}).run(ctx,
		&r); err != nil {
		r.Error = err.Error()
	}
	return r
}

// bench holds the parts of a run.
type bench struct {
	SetUp
	o    Options
	dir  string
	mark string // set in the environment of all processes of the run
}

func (b *bench) run(ctx context.Context, r *Result) (failed error) {
	p := &place{cache: b.o.Cache, home: filepath.Join(b.dir, "home"), config: filepath.Join(b.dir, "config"),
		project: filepath.Join(b.dir, "project")}
	logs, bodies := filepath.Join(b.dir, "logs"), ""
	if b.o.Keep != "" {
		logs = filepath.Join(b.o.Keep, b.Name)
		bodies = logs
	}
	for _, dir := range []string{logs, p.home, p.config, filepath.Join(b.dir, "tmp")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	model, err := b.model(p, bodies)
	if err != nil {
		return err
	}
	defer model.Close()
	defer sweep(b.mark)
	way, err := b.way(ctx, model.URL, logs)
	if err != nil {
		return err
	}
	defer func() { failed = cmp.Or(way.end(r.Exit != 0), failed) }()
	t, err := newTap(way.url, bodies)
	if err != nil {
		return err
	}
	defer t.close()
	p.base = t.url
	err = b.client(way.ctx, p, logs, r)
	r.Upstream = model.Stats()
	r.Share = r.Upstream.CacheShare()
	t.sum(r)
	if bodies == "" {
		return err
	}
	return errors.Join(err, writeLog(filepath.Join(logs, "exchanges.json"), t.exchanges),
		writeLog(filepath.Join(logs, "result.json"), r))
}

// model writes the project and starts the model server that requests its files. Refused requests
// are saved in the folder keep, unless it is "".
func (b *bench) model(p *place, keep string) (*upstream.Server, error) {
	files, err := writeProject(p.project, b.o.Files, cmp.Or(b.o.Bytes, FileBytes))
	if err != nil {
		return nil, err
	}
	o := b.o.Upstream
	o.Files = files
	o.LegacyThinking = o.LegacyThinking || b.legacy
	if keep != "" {
		o.Observe = func(rec upstream.Record, _ http.Header, body []byte) {
			if rec.Refused != "" {
				// a lost copy changes no result
				_ = os.WriteFile(filepath.Join(keep, fmt.Sprintf("refused-%04d.json", rec.N)), body, 0o644)
			}
		}
	}
	return upstream.Start(o)
}

// way is the path from the client's proxy to the model server.
type way struct {
	ctx context.Context // ends with the gateway, because a client would retry forever
	url string
	// end stops the gateway. It fails if the gateway has ended by itself; with a hint it waits a
	// moment for that.
	end func(hint bool) error
}

// way starts the gateway, if one is configured.
func (b *bench) way(ctx context.Context, model, logs string) (way, error) {
	if b.o.Gateway == "" {
		return way{ctx, model, func(bool) error { return nil }}, nil
	}
	log := filepath.Join(logs, "gateway.log")
	env := append(os.Environ(), "UPSTREAM="+model, fmt.Sprintf("WINDOW=%d", b.o.Upstream.Window),
		"XDG_DATA_HOME="+filepath.Join(b.dir, "data"), b.mark)
	g, url, err := gateway(ctx, b.o.Gateway, env, log)
	if err != nil {
		return way{}, err
	}
	during, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-g.done:
			cancel()
		case <-during.Done():
		}
	}()
	return way{during, url, func(hint bool) error {
		defer cancel()
		if g.ended(hint) {
			return fmt.Errorf("the gateway ended: %s", lastWords(log))
		}
		g.stop()
		return nil
	}}, nil
}

// client runs the client to its end.
func (b *bench) client(ctx context.Context, p *place, logs string, r *Result) error {
	args, env, err := b.command(p)
	if err != nil {
		return err
	}
	if args[0] == "node" {
		args[0] = filepath.Join(nodeDir(p.cache), "node")
	}
	timed, cancel := context.WithTimeout(ctx, b.o.Timeout)
	defer cancel()
	log := filepath.Join(logs, "client.log")
	begin := time.Now()
	c, err := start(timed, command{args: args, env: append(b.environment(p), env...), dir: p.project}, log)
	if err != nil {
		return err
	}
	<-c.done
	c.stop()
	r.Seconds = time.Since(begin).Seconds()
	r.Exit = c.cmd.ProcessState.ExitCode()
	r.Timeout = errors.Is(timed.Err(), context.DeadlineExceeded)
	text, err := os.ReadFile(log)
	r.Done = strings.Contains(string(text), upstream.Done)
	r.Output = tail(log, 1)
	return errors.Join(err, ctx.Err())
}

// environment is the environment of every client. It has its own home, and reaches no other
// machine.
func (b *bench) environment(p *place) []string {
	return []string{
		"PATH=" + nodeDir(p.cache) + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"HOME=" + p.home, "USER=test", "SHELL=/bin/sh", "LANG=C.UTF-8", "TERM=dumb", "NO_COLOR=1", "CI=1",
		"TMPDIR=" + filepath.Join(b.dir, "tmp"),
		"XDG_CONFIG_HOME=" + filepath.Join(p.home, ".config"),
		"XDG_DATA_HOME=" + filepath.Join(p.home, ".local", "share"),
		"XDG_STATE_HOME=" + filepath.Join(p.home, ".local", "state"),
		"XDG_CACHE_HOME=" + filepath.Join(p.home, ".cache"),
		"HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost", "DO_NOT_TRACK=1",
		b.mark,
	}
}

// sum adds up the client's traffic.
func (t *tap) sum(r *Result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r.Begun, r.Whole = len(t.begun), len(t.whole)
	for _, x := range t.exchanges {
		if x.Kind == "" || x.Kind == upstream.Count {
			continue
		}
		r.Requests++
		switch {
		case x.Overflow:
			r.Overflows++
		case x.Status < 200 || x.Status >= 400:
			r.Errors++
			r.LastError = x.Error
		case x.Kind == upstream.Summary || x.Kind == upstream.Compact:
			r.Compactions++
		}
	}
}

func writeLog(path string, v any) error {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
