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

	"precis/internal/upstream"
)

// Options says how set-ups are run.
type Options struct {
	Cache    string // where the packages are
	Gateway  string // a shell command, see the package; "" means none
	Files    int    // to be read
	Bytes    int    // of a file, about; 0 means [FileBytes]
	Timeout  time.Duration
	Keep     string           // a directory for logs and bodies; "" keeps nothing
	Upstream upstream.Options // Files are set by the run
}

// Result is what became of a run.
type Result struct {
	Name    string  `json:"name"`
	Dialect string  `json:"dialect"`
	Error   string  `json:"error,omitempty"` // why it could not be run
	Exit    int     `json:"exit"`            // -1 when the client was killed
	Timeout bool    `json:"timeout,omitempty"`
	Done    bool    `json:"done"` // the client printed the agent's last words
	Seconds float64 `json:"seconds"`
	// What the client sent and saw.
	Requests    int    `json:"requests"`
	Begun       int    `json:"begun"` // files whose text it sent back
	Whole       int    `json:"whole"` // those it sent to their end
	Overflows   int    `json:"overflows"`
	Compactions int    `json:"compactions"` // summaries it asked for itself
	Errors      int    `json:"errors"`      // other failed requests to a model
	LastError   string `json:"last_error,omitempty"`
	Output      string `json:"output,omitempty"` // its last line
	// What came to the model server.
	Upstream upstream.Stats `json:"upstream"`
	Share    float64        `json:"cache_share"`
}

// Run runs a set-up. What goes wrong is in the result.
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
	if err := (&bench{SetUp: s, o: o, dir: dir, mark: "PRECIS_CLIENT_RUN=" + rand.Text()}).run(ctx, &r); err != nil {
		r.Error = err.Error()
	}
	return r
}

// bench is what a run is made of.
type bench struct {
	SetUp
	o    Options
	dir  string
	mark string // in the environment of all processes of the run
}

func (b *bench) run(ctx context.Context, r *Result) (failed error) {
	p := &place{cache: b.o.Cache, home: filepath.Join(b.dir, "home"), config: filepath.Join(b.dir, "config"), project: filepath.Join(b.dir, "project")}
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
	return errors.Join(err, writeLog(filepath.Join(logs, "exchanges.json"), t.exchanges), writeLog(filepath.Join(logs, "result.json"), r))
}

// model writes the project and starts the model server that asks for its files.
// What it refuses is kept in a directory, unless that is "".
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
				_ = os.WriteFile(filepath.Join(keep, fmt.Sprintf("refused-%04d.json", rec.N)), body, 0o644) // a lost copy changes no result
			}
		}
	}
	return upstream.Start(o)
}

// way leads from the client's proxy to the model server.
type way struct {
	ctx context.Context // ends when the gateway does: a client would try again and again
	url string
	// end stops the gateway. It fails when that had ended by itself, and looks
	// twice when something hints at that.
	end func(hint bool) error
}

// way starts the gateway, if there is to be one.
func (b *bench) way(ctx context.Context, model, logs string) (way, error) {
	if b.o.Gateway == "" {
		return way{ctx, model, func(bool) error { return nil }}, nil
	}
	log := filepath.Join(logs, "gateway.log")
	env := append(os.Environ(), "UPSTREAM="+model, fmt.Sprintf("WINDOW=%d", b.o.Upstream.Window), "XDG_DATA_HOME="+filepath.Join(b.dir, "data"), b.mark)
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

// environment is what every client runs in. It has a home of its own, and
// nothing beyond this machine is reached through it.
func (b *bench) environment(p *place) []string {
	return []string{
		"PATH=" + nodeDir(p.cache) + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"HOME=" + p.home, "USER=test", "SHELL=/bin/sh", "LANG=C.UTF-8", "TERM=dumb", "NO_COLOR=1", "CI=1",
		"TMPDIR=" + filepath.Join(b.dir, "tmp"),
		"XDG_CONFIG_HOME=" + filepath.Join(p.home, ".config"), "XDG_DATA_HOME=" + filepath.Join(p.home, ".local", "share"),
		"XDG_STATE_HOME=" + filepath.Join(p.home, ".local", "state"), "XDG_CACHE_HOME=" + filepath.Join(p.home, ".cache"),
		"HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost", "DO_NOT_TRACK=1",
		b.mark,
	}
}

// sum adds up what a client sent and saw.
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
