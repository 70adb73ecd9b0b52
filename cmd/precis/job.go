package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"precis"
	"precis/archive"
	"precis/archive/formats"
	"precis/archive/roo"
	"precis/cmd/internal/config"
	"precis/models"
	"precis/preset"
	"precis/tokens"
)

// job is one conversation with everything needed to work on it.
type job struct {
	cfg     *config.Config
	rec     *archive.Recording
	conv    *precis.Conversation
	model   string
	window  precis.Window
	limit   int // the model's output limit; 0: unknown
	manager *precis.Manager
	models  *preset.Condensing // nil: no model condenses
	alert   func(context.Context, precis.Alert)
	ledger  precis.Ledger // what was spent, for limits; nil: nobody knows
}

// open reads the recording at path ("-" is standard input) and prepares a
// manager for it.
func (a *app) open(ctx context.Context, path string) (*job, error) {
	cfg, err := a.opts.load()
	if err != nil {
		return nil, err
	}
	rec, err := a.read(ctx, path)
	if err != nil {
		return nil, err
	}
	if !a.opts.quiet {
		a.warnOf(cfg, rec)
	}
	j := &job{cfg: cfg, rec: rec, conv: rec.Conversation}
	if err := j.measure(); err != nil {
		return nil, err
	}
	return j, j.manage(a.logger(), nil)
}

func (a *app) read(ctx context.Context, path string) (*archive.Recording, error) {
	if path == "-" {
		data, err := a.readInput(ctx)
		if err != nil {
			return nil, err
		}
		return archive.Read(archive.Source{Data: data}, formats.All())
	}
	return archive.Open(path, formats.All(), roo.HistoryNames...)
}

func (a *app) warnOf(cfg *config.Config, rec *archive.Recording) {
	for _, w := range cfg.Warnings {
		a.warn("%s", w)
	}
	for _, w := range rec.Warnings {
		a.warn("%s: %s", rec.Path, w)
	}
	if n := rec.Skipped - len(rec.Warnings); n > 0 {
		a.warn("%s: %d more malformed lines were skipped", rec.Path, n)
	}
}

// measure finds the model and its window.
func (j *job) measure() error {
	catalogue, err := loadCatalogue(j.cfg.ModelsFile)
	if err != nil {
		return err
	}
	j.model = j.cfg.Model
	if j.model == "" {
		j.model = j.conv.Model
	}
	j.conv.Model = j.model
	m, known := catalogue.Find(j.model)
	if known {
		j.limit = m.MaxOutput.Tokens
	}
	switch {
	case j.cfg.Window > 0:
		j.window = precis.Window{Tokens: j.cfg.Window, Source: precis.SourceConfigured, Detail: j.cfg.Origin("window")}
	case j.model == "":
		j.window = catalogue.Window("")
		j.window.Detail = "the recording names no model; see --model and --window"
	default:
		j.window = catalogue.Window(j.model)
	}
	return nil
}

func loadCatalogue(path string) (*models.Catalogue, error) {
	var o models.Options
	if path != "" {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, &precis.Error{Code: precis.CodeNotFound, Op: "read models", Place: path, Err: err}
		}
		if o.Overrides, err = models.ParseOverrides(data, path); err != nil {
			return nil, precis.Errorf(precis.CodeInvalid, "read models", "%w", err)
		}
	}
	c, err := models.New(o)
	if err != nil {
		return nil, precis.Errorf(precis.CodeInvalid, "read models", "%w", err)
	}
	return c, nil
}

// readInput reads standard input until it ends or the context does.
func (a *app) readInput(ctx context.Context) ([]byte, error) {
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1) // the read cannot be interrupted; the process ends soon
	go func() {
		data, err := io.ReadAll(a.in)
		done <- result{data, err}
	}()
	select {
	case <-ctx.Done():
		return nil, precis.Errorf(precis.CodeCanceled, "read standard input", "%w", context.Cause(ctx))
	case r := <-done:
		if r.err != nil {
			return nil, precis.Errorf(precis.CodeInternal, "read standard input", "%w", r.err)
		}
		return r.data, nil
	}
}

// manage makes the manager; leave lists messages truncation may not touch.
func (j *job) manage(log *slog.Logger, leave []int) (err error) {
	j.manager, err = preset.New(preset.Options{
		Settings: j.cfg.Settings, Estimate: j.cfg.Estimate, Images: imageRule(j.model), Leave: leave, Logger: log, Condensing: j.models, Alert: j.alert, Ledger: j.ledger,
	})
	return err
}

// choose makes the manager anew with the way of summarizing that the user wants.
func (a *app) choose(ctx context.Context, j *job, summarizer string) (err error) {
	if j.models, err = a.condensing(ctx, j, summarizer); err != nil || j.models == nil {
		return err
	}
	j.alert = a.alert(j.cfg.Hooks.Alert)
	return j.manage(a.logger(), nil)
}

// imageRule goes by the family that the model's name tells.
func imageRule(model string) tokens.ImageRule {
	switch models.Family(strings.ToLower(model)) {
	case "gpt":
		return tokens.ImagesOpenAI
	case "gemini":
		return tokens.ImagesGemini
	}
	return tokens.ImagesAnthropic
}

// request asks for the conversation's view.
func (j *job) request(a *app) precis.Request {
	profile := a.opts.profile
	if profile == "" {
		profile = j.model
	}
	r := precis.Request{
		Conversation: j.conv, Window: j.window, MaxOutput: j.cfg.MaxOutput, OutputLimit: j.limit, Profile: profile,
	}
	r.Reported = a.opts.used
	if a.opts.target > 0 {
		r.Target = int(a.opts.target * float64(j.window.Tokens))
	}
	return r
}

// isTask reports whether the recording is a Roo task folder that can be written
// to.
func (j *job) isTask() bool {
	return j.rec.Format == roo.Format{}.Name() && slices.Contains(roo.HistoryNames, filepath.Base(j.rec.Path))
}
