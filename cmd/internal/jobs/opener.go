// Package jobs answers which parts a command needs to work on one recording: configuration,
// recording, manager, summarizer, and the home for verbs. An [Opener] makes a [Job] from a path. It
// also assembles the same parts for a gateway.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/spf13/pflag"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/cmd/internal/term"
	"github.com/precis-dev/precis/internal/outlineworker"
	"github.com/precis-dev/precis/internal/suggest"
	"github.com/precis-dev/precis/models"
)

// Opener opens jobs according to flags. It is not safe for concurrent use.
type Opener struct {
	console *console.Console
	options options
	last    *config.Config // read last; nil: none

	limit     int64                 // memory limit in bytes, see withMemoryLimit; 0: none
	watched   bool                  // memory use is being watched
	exceeded  chan error            // receives an error when the limit is exceeded
	worker    *outlineworker.Worker // nil: not started
	closing   []func() error        // called when the command ends
	sayFolder sync.Once             // guards the note about a configuration in the current folder
}

// NewOpener returns an opener that writes warnings to the console.
func NewOpener(c *console.Console) *Opener { return &Opener{console: c, exceeded: make(chan error, 1)} }

// Register defines the flags.
func (o *Opener) Register(f *pflag.FlagSet) { o.options.register(f) }

// Set sets a key of the configuration and overrides earlier values; "" is ignored.
func (o *Opener) Set(key, value string) {
	if value != "" {
		if o.options.own == nil {
			o.options.own = map[string]string{}
		}
		o.options.own[key] = value
	}
}

// Estimate returns the counting method named by a flag; "": none.
func (o *Opener) Estimate() string { return o.options.est }

// OnClose registers f to be called when the opener is closed.
func (o *Opener) OnClose(f func() error) { o.closing = append(o.closing, f) }

// Close calls the registered functions and prints their errors as warnings.
func (o *Opener) Close() {
	for _, f := range o.closing {
		if err := f(); err != nil {
			o.console.Warn("%v", err)
		}
	}
	o.closing = nil
}

// Config returns the effective configuration. A file in the current folder may not be the user's,
// so it is named on standard error, once.
func (o *Opener) Config() (*config.Config, error) {
	if t, err := o.options.parseTarget(); err == nil && t.Tokens > 0 && o.options.window == "" {
		return nil, &precis.Error{Code: precis.CodeInvalid, Op: "read --target",
			Err:  fmt.Errorf("%s are tokens, of a window that nothing names", o.options.target),
			Hint: "give --window too, or a share such as 20%"}
	}
	return o.config()
}

// config returns the effective configuration, for a command that knows the model's window.
func (o *Opener) config() (*config.Config, error) {
	c, err := o.options.load()
	if err == nil {
		o.last = c
	}
	if err == nil && c.FromFolder > 0 && !o.console.Quiet {
		o.sayFolder.Do(func() {
			o.console.Note("%s in the current folder sets %s; precis config shows them", c.Folder,
				term.Count(c.FromFolder, "value"))
		})
	}
	return c, err
}

// Blame adds the source of a configured value to an error that names its key.
func (o *Opener) Blame(err error) error {
	if o.last == nil {
		return err
	}
	return o.last.Blame(err)
}

// Open reads the recording at path ("-" is standard input) and makes a manager for it.
func (o *Opener) Open(ctx context.Context, path string) (*Job, error) {
	j, err := o.begin(ctx, path)
	if err != nil {
		return nil, err
	}
	o.warnOf(j)
	return j, j.manage()
}

// Edit opens the recording at path for edits, which are kept at out. With an empty out they are
// kept in the task folder itself, or in precis's own file.
func (o *Opener) Edit(ctx context.Context, path, out string) (*Job, error) {
	j, err := o.begin(ctx, path)
	if err != nil {
		return nil, err
	}
	if err := o.selectOutput(j, out, j.File.Task != nil && out == ""); err != nil {
		return nil, err
	}
	return j, j.manage()
}

// begin reads the configuration and the recording, and determines the model's window.
func (o *Opener) begin(ctx context.Context, path string) (*Job, error) {
	cfg, err := o.config()
	if err != nil {
		return nil, err
	}
	f, err := o.withMemoryLimit(cfg).Read(ctx, path)
	if err != nil {
		return nil, err
	}
	log := o.console.Logger()
	j := &Job{Config: cfg, File: f, Conversation: f.Conversation, options: &o.options, log: log,
		parser: o.Parser(log)}
	if err := j.measure(); err != nil {
		return nil, err
	}
	if _, known := j.catalog.Find(j.Model); !known && cfg.Model != "" && cfg.Window == 0 && !o.console.Quiet {
		o.console.Warn("the model %s is unknown%s; its window is taken for %s tokens", cfg.Model,
			nearModel(j.catalog, cfg.Model), term.Number(j.Window.Tokens))
	}
	return j, nil
}

// nearModel returns a question that suggests a model with a similar name; "": none.
func nearModel(c *models.Catalog, id string) string {
	var known []string
	for _, m := range c.List() {
		known = append(known, m.ID)
	}
	if near := suggest.DidYouMean(id, known); near != "" {
		return ": " + near
	}
	return ""
}

// selectOutput selects the file for edits, which may exist and be continued; it checks that its
// folder exists.
func (o *Opener) selectOutput(j *Job, out string, inPlace bool) error {
	if folder := filepath.Dir(out); out != "" {
		if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
			return &precis.Error{Code: precis.CodeNotFound, Op: "save", Place: folder,
				Err:  errors.New("there is no such folder"),
				Hint: "make it first, or name another file with -o"}
		}
	}
	continued, err := j.File.Keep(out, inPlace)
	if err != nil {
		return err
	}
	o.warnOf(j)
	if continued != "" && !o.console.Quiet {
		o.console.Note("%s holds edits of %s: going on from there", continued, j.File.Path)
	}
	return nil
}

func (o *Opener) warnOf(j *Job) {
	c := o.console
	if c.Quiet {
		return
	}
	for _, w := range j.Config.Warnings {
		c.Warn("%s", w)
	}
	for _, w := range j.File.Warnings {
		c.Warn("%s: %s: %s", j.File.Path, c.Words.Sentence(w.Place), c.Words.Sentence(w.Text))
	}
	if n := j.File.Skipped - len(j.File.Warnings); n > 0 {
		c.Warn("%s: %d more malformed lines were skipped", j.File.Path, n)
	}
}
