package serving

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive/formats"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/jobs"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/dashboard"
	"github.com/precis-dev/precis/internal/entry"
	"github.com/precis-dev/precis/internal/origin"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
)

// ui serves the dashboard.
type ui struct {
	*command.Tools
	listen string
	edit   bool
}

// NewUI makes the command ui.
func NewUI(t *command.Tools) *cobra.Command {
	c := &ui{Tools: t}
	cmd := &cobra.Command{
		Use:   "ui [FILE|FOLDER]",
		Short: "Look at conversations in a browser, and edit what the model sees",
		Long: `Serve the dashboard over the conversations that agents have recorded on this
machine, over those in FOLDER, or over the one in FILE: what fills the window,
what was said next to what the model sees, every edit, what was lost, and what
the model saw at any earlier moment. The address is printed, with a key that
lets in nobody but who has it: other accounts of the machine get no page. Ctrl-C
ends it.

Nothing can be changed unless --edit is given with a FILE. Edits go to precis's
own file next to the recording, as those of precis condense do. The gateway
serves the same pages over its conversations at /precis/.

  precis ui
  precis ui ~/backup
  precis ui run.jsonl
  precis ui --edit --listen 127.0.0.1:8400 run.jsonl`,
		Args: command.Takes("[FILE]"),
		RunE: c.run,
	}
	cmd.Flags().StringVar(&c.listen, "listen", "127.0.0.1:0",
		"`ADDRESS` to listen on, of this machine; port 0 is any that is free")
	cmd.Flags().BoolVar(&c.edit, "edit", false, "let the pages edit what the model sees")
	return cmd
}

func (c *ui) run(cmd *cobra.Command, args []string) error {
	o, err := c.options(cmd.Context(), args)
	if err != nil {
		return err
	}
	h, err := dashboard.New(o)
	if err != nil {
		return err
	}
	return c.serve(cmd.Context(), h)
}

// options opens the source that the arguments name.
func (c *ui) options(ctx context.Context, args []string) (dashboard.Options, error) {
	if len(args) == 0 || isFolder(args[0]) {
		return c.sessions(ctx, args)
	}
	j, err := c.open(ctx, args[0])
	if err != nil {
		return dashboard.Options{}, err
	}
	return dashboard.Options{
		Home:   func(*http.Request) (conversation.Home, error) { return j.Home, nil },
		Source: args[0], Edits: c.edit, Profiles: preset.Names, Settings: fixedSettings{j.Config.Settings},
		Logger: c.Logger(),
	}, nil
}

// sessions opens the recordings of this machine, or of folders.
func (c *ui) sessions(ctx context.Context, folders []string) (dashboard.Options, error) {
	if c.edit {
		return dashboard.Options{}, &precis.Error{Code: precis.CodeInvalid, Op: "open dashboard",
			Err:  errors.New("the sessions of agents are only read"),
			Hint: "precis ui --edit FILE edits one recording"}
	}
	bar, done := c.Counted("reading sessions")
	lib, err := c.Jobs.Sessions(ctx, folders, bar)
	done()
	if err != nil {
		return dashboard.Options{}, err
	}
	cfg, err := c.Jobs.Config()
	if err != nil {
		return dashboard.Options{}, err
	}
	source := "the sessions of this machine"
	if len(folders) > 0 {
		source = folders[0]
	}
	home := newLiving(lib, time.Now)
	return dashboard.Options{
		Home:   func(*http.Request) (conversation.Home, error) { return home, nil },
		Source: source, Profiles: preset.Names, Settings: fixedSettings{cfg.Settings}, Logger: c.Logger(),
	}, nil
}

// isFolder reports whether a path is a folder but not a recording.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	_, err = formats.Load(path)
	return precis.CodeOf(err) == precis.CodeNotFound
}

func (c *ui) open(ctx context.Context, path string) (*jobs.Job, error) {
	if c.edit {
		return c.Jobs.Condense(ctx, path, jobs.Condensing{})
	}
	return c.Jobs.Open(ctx, path)
}

// serve serves requests until ctx ends.
func (c *ui) serve(ctx context.Context, h http.Handler) error {
	l, err := c.bind()
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return precis.Errorf(precis.CodeInternal, "serve", "%w", err)
	}
	door := entry.New(rand.Text(), "/precis/", port)
	refused := func(status int) func(http.ResponseWriter, *http.Request, error) {
		return func(w http.ResponseWriter, _ *http.Request, err error) { c.refuse(w, status, err) }
	}
	mux := http.NewServeMux()
	mux.Handle("/precis/", door.Handler(refused(http.StatusUnauthorized), h))
	mux.Handle("/{$}", http.RedirectHandler("/precis/", http.StatusSeeOther))
	server := &http.Server{Handler: origin.Handler(nil, refused(http.StatusForbidden), mux),
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	c.Text.Printf("%s\n", door.Address("http://"+l.Addr().String()))
	if err := server.Serve(l); ctx.Err() == nil {
		return precis.Errorf(precis.CodeInternal, "serve", "%w", err)
	}
	return nil
}

// refuse answers a request without a page.
func (c *ui) refuse(w http.ResponseWriter, status int, err error) {
	text := "precis: " + err.Error()
	if e, ok := errors.AsType[*precis.Error](err); ok && e.Hint != "" {
		text += "; " + e.Hint
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, text, status)
}

// bind listens on the address, which must be local because the pages are sent unencrypted.
func (c *ui) bind() (net.Listener, error) {
	const op = "listen"
	host, _, err := net.SplitHostPort(c.listen)
	if err != nil {
		return nil, precis.Errorf(precis.CodeInvalid, op, "--listen is %q, want HOST:PORT", c.listen)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, &precis.Error{Code: precis.CodeInvalid, Op: op, Place: c.listen,
			Hint: "use 127.0.0.1: pages and their key are sent in the clear, so others must not reach them"}
	}
	l, err := net.Listen("tcp", c.listen)
	if err != nil {
		return nil, precis.Errorf(precis.CodeInternal, op, "%w", err)
	}
	return l, nil
}

// fixedSettings are settings given by the command line.
type fixedSettings struct{ all policy.Settings }

func (fixedSettings) Profiles() []string                         { return []string{""} }
func (s fixedSettings) Settings(string) (policy.Settings, error) { return s.all, nil }
func (fixedSettings) Presets() []string                          { return preset.Names() }
func (fixedSettings) Change(*http.Request) func(string, dashboard.SettingsChange) error {
	return nil
}
