package jobs

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/conversation/recording"
	"github.com/precis-dev/precis/internal/compressed"
	"github.com/precis-dev/precis/models"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/sessions"
)

// Sessions opens the recorded conversations of this machine, or only of the given folders, and
// updates the index. Progress, if not nil, is called while recordings are read.
func (o *Opener) Sessions(ctx context.Context, folders []string,
	progress func(done, total int)) (*sessions.Library, error) {
	cfg, err := o.config()
	if err != nil {
		return nil, err
	}
	places, err := places(folders, cfg.Sessions.Roots)
	if err != nil {
		return nil, err
	}
	manager, err := preset.New(preset.Options{Estimate: cfg.Estimate})
	if err != nil {
		return nil, err
	}
	catalog, err := cfg.Catalog()
	if err != nil {
		return nil, err
	}
	options := sessions.Options{
		Places: places, Index: o.sessionIndex(cfg.Sessions.Index), Manager: manager, Progress: progress,
		Prices: func(model string) models.Prices {
			m, _ := catalog.Find(model)
			return m.Prices
		},
		Window: func(model string, recorded int) precis.Window {
			return windowOf(cfg, catalog, model,
				recorded)
		},
		Open: o.openHome(),
	}
	lib, err := sessions.Open(ctx, options)
	if err != nil && options.Index != "" && ctx.Err() == nil {
		o.console.Warn("every session is read again: %v", err)
		options.Index = ""
		lib, err = sessions.Open(ctx, options)
	}
	if err != nil {
		return nil, err
	}
	o.OnClose(lib.Close)
	if _, err := lib.Refresh(ctx); err != nil {
		return nil, err
	}
	unread, err := lib.Unread(ctx)
	if n := len(unread); n > 0 {
		o.console.Note("%d not read: %s; precis sessions check names each", n,
			unreadText(o.console.Words, unread))
	}
	return lib, err
}

// unreadText counts unread paths by reason: "2 by format, 1 without permission".
func unreadText(w *console.Words, unread []sessions.Unread) string {
	n := map[sessions.Reason]int{}
	for _, u := range unread {
		n[u.Why]++
	}
	texts := map[sessions.Reason]string{
		sessions.ByFormat:   w.Text("%d by format", n[sessions.ByFormat]),
		sessions.Empty:      w.Text("%d without messages", n[sessions.Empty]),
		sessions.Damaged:    w.Text("%d damaged", n[sessions.Damaged]),
		sessions.Forbidden:  w.Text("%d without permission", n[sessions.Forbidden]),
		sessions.Busy:       w.Text("%d locked by another program", n[sessions.Busy]),
		sessions.TooLarge:   w.Text("%d too large", n[sessions.TooLarge]),
		sessions.NoFile:     w.Text("%d by kind of file", n[sessions.NoFile]),
		sessions.BrokenLink: w.Text("%d by broken links", n[sessions.BrokenLink]),
		sessions.LinkOut:    w.Text("%d by links out of your home folder", n[sessions.LinkOut]),
		sessions.TooDeep:    w.Text("%d too deep", n[sessions.TooDeep]),
	}
	var parts []string
	for _, why := range sessions.Reasons() {
		if n[why] > 0 {
			parts = append(parts, texts[why])
		}
	}
	return strings.Join(parts, ", ")
}

// openHome returns a function that opens recordings for reading, one at a time.
func (o *Opener) openHome() func(context.Context, string) (sessions.Home, error) {
	var mu sync.Mutex // held while a job is made
	return func(ctx context.Context, path string) (sessions.Home, error) {
		mu.Lock()
		defer mu.Unlock()
		j, err := o.begin(ctx, path)
		if err != nil {
			return nil, err
		}
		if err := j.manage(); err != nil {
			return nil, err
		}
		return j.Home, nil
	}
}

// places returns the places to search for recordings: only the folders, if there are any.
func places(folders, roots []string) ([]sessions.Place, error) {
	var out []sessions.Place
	if len(folders) == 0 {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, &precis.Error{Code: precis.CodeInvalid, Op: "find sessions", Err: err,
				Hint: "name folders"}
		}
		out = sessions.Places(sessions.Environment{Home: home, Env: os.Getenv})
	} else {
		roots = folders
	}
	for _, root := range roots {
		path, err := filepath.Abs(root)
		if err != nil {
			return nil, precis.Errorf(precis.CodeInternal, "find sessions", "%w", err)
		}
		if _, err := os.Stat(path); err != nil && len(folders) > 0 {
			return nil, &precis.Error{Code: precis.CodeNotFound, Op: "find sessions", Err: err}
		}
		out = append(out, sessions.Place{Root: path, Given: true})
	}
	return out, nil
}

// sessionIndex returns the path of the index; "" for none.
func (o *Opener) sessionIndex(path string) string {
	switch path {
	case "off":
		return ""
	case "":
		dir, err := os.UserCacheDir()
		if err != nil {
			o.console.Warn("the index of sessions is not kept: %v", err)
			return ""
		}
		return filepath.Join(dir, "precis", "sessions.db")
	}
	return path
}

// session returns the path of a recording named by a session's ID, its beginning, @last or @AGENT.
// Names of files are returned unchanged.
func (o *Opener) session(ctx context.Context, word string) (string, error) {
	if _, err := os.Lstat(word); err == nil || !sessions.IsName(word) {
		return word, nil
	}
	done := o.console.Progress("reading sessions")
	lib, err := o.Sessions(ctx, nil, nil)
	done()
	if err != nil {
		return "", err
	}
	s, err := lib.Find(ctx, word)
	if precis.CodeOf(err) == precis.CodeNotFound && word[0] != '@' {
		return word, nil // the later error about a missing file is clearer
	}
	if err != nil {
		return "", err
	}
	return s.Path, nil
}

// Read reads a file, standard input for "-", or a session.
func (o *Opener) Read(ctx context.Context, name string) (*recording.File, error) {
	if console.IsInput(name) {
		data, err := o.console.ReadInput(ctx)
		if err != nil {
			return nil, err
		}
		if data, err = compressed.File(data, archive.MaxBytes); err != nil {
			return nil, &precis.Error{Code: precis.CodeInvalid, Op: "read standard input", Err: err}
		}
		return recording.Read(data)
	}
	path, err := o.session(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := o.fits(path); err != nil {
		return nil, err
	}
	return recording.Open(path)
}
