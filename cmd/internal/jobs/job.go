package jobs

import (
	"context"
	"log/slog"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/conversation/recording"
	"github.com/precis-dev/precis/internal/window"
	"github.com/precis-dev/precis/models"
	"github.com/precis-dev/precis/outline"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
)

// Job is one recording with everything needed to work on it. First the recording is read, then the
// manager is made.
type Job struct {
	Config       *config.Config
	File         *recording.File
	Conversation *precis.Conversation
	Model        string // "": unknown
	Window       precis.Window
	Manager      *policy.Manager
	Home         *recording.Home

	options *options
	catalog *models.Catalog
	limit   int // the model's output limit; 0: unknown
	log     *slog.Logger
	parser  outline.Parser

	models      *preset.Condensing // nil: condense without a model
	alert       func(context.Context, policy.Alert)
	ledger      precis.Ledger // past costs, for limits; nil: unknown
	keepVisible []int         // messages that truncation must not hide

	instead []policy.Strategy // see [preset.Options]

	fromStart, toFit bool // see [preset.Options]
}

// measure determines the model and its window.
func (j *Job) measure() (err error) {
	if j.catalog, err = j.Config.Catalog(); err != nil {
		return err
	}
	j.Model = j.Config.Model
	if j.Model == "" {
		j.Model = j.Conversation.Model
	}
	j.Conversation.Model = j.Model
	m, known := j.catalog.Find(j.Model)
	if known {
		j.limit = m.MaxOutput.Tokens
	}
	j.Window = windowOf(j.Config, j.catalog, j.Model, j.File.Origin.Window)
	if m := j.File.Origin.Measured; j.Config.Model == "" &&
		(j.Config.Window == 0 || m.Tokens <= j.Config.Window) {
		// otherwise the view is for another model, or another program with an unknown system prompt
		j.Conversation.Measured = m
	}
	return nil
}

// windowOf returns the context window for a recording that names a model and a window of so many
// tokens; "" and 0: it names none.
func windowOf(cfg *config.Config, catalog *models.Catalog, model string, recorded int) precis.Window {
	k := window.Known{Set: cfg.Window, By: cfg.Origin("window"), Recorded: recorded, Model: model,
		Table: catalog.Window}
	if cfg.Model != "" {
		k.Model, k.Recorded = cfg.Model, 0 // the recorded number is for another model
	}
	w := k.Window()
	if k.Model == "" && w.Source == precis.SourceAssumed {
		w.Detail = "the recording names no model; see --model and --window"
	}
	return w
}

// manage makes the manager and the home for verbs.
func (j *Job) manage() (err error) {
	if j.Manager, err = j.managerOf(j.Config.Settings); err != nil {
		return err
	}
	j.Home = j.File.Home(j.Manager, j.ask())
	j.Home.Profile = j.profile
	return nil
}

func (j *Job) managerOf(s policy.Settings) (*policy.Manager, error) {
	return preset.New(preset.Options{
		Settings: s, Estimate: j.Config.Estimate, Leave: j.keepVisible, FromStart: j.fromStart,
		ToFit: j.toFit, Instead: j.instead, Logger: j.log, Condensing: j.models, Alert: j.alert,
		Ledger: j.ledger, Parser: j.parser, Hooks: rungHooks(j.Config.Hooks),
	})
}

// profile returns a manager with the settings of a preset: every preset is a profile.
func (j *Job) profile(name string) (*policy.Manager, error) {
	s, err := preset.Settings(name)
	if err != nil {
		return nil, err
	}
	return j.managerOf(s)
}

// ask returns the template of requests to the manager.
func (j *Job) ask() policy.Request {
	r := policy.Request{Window: j.Window, MaxOutput: j.Config.MaxOutput, OutputLimit: j.limit,
		Profile: j.options.profile, Reported: j.options.used}
	if j.Conversation != nil && j.Conversation.Transcript != nil {
		r.Environment = condense.EnvironmentOf(j.Conversation.Transcript.Messages())
	}
	if r.Profile == "" {
		r.Profile = j.Model
	}
	if t, err := j.options.parseTarget(); err == nil { // errors were reported before
		r.Target = t.In(j.Window.Tokens)
	}
	return r
}

// Request returns the request for the conversation's view.
func (j *Job) Request() policy.Request {
	r := j.ask()
	r.Conversation = j.Conversation
	return r
}
