package service

import (
	"context"
	"errors"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/internal/experiments"
	"github.com/precis-dev/precis/internal/window"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
)

// managed are the managers made from a configuration.
type managed struct {
	manager  *policy.Manager
	profiles map[string]*policy.Manager
	configs  map[string]*config.Config // of profiles with a file of their own
}

// managers returns the managers of the configuration and of its profiles.
func (s *Service) managers(c *config.Config) (*managed, error) {
	m, err := s.manager(c, "")
	if err != nil {
		return nil, err
	}
	profiles, configs := map[string]*policy.Manager{}, map[string]*config.Config{}
	for _, item := range c.Gateway.Profiles {
		name, path, ok := strings.Cut(item, "=")
		if !ok || s.p.Load == nil {
			return nil, precis.Errorf(precis.CodeInvalid, "read configuration",
				"gateway.profiles: %q is not NAME=FILE", item)
		}
		own, err := s.p.Load(path)
		if err != nil {
			return nil, err
		}
		if len(own.Experiments) > 0 {
			return nil, &precis.Error{Code: precis.CodeInvalid, Op: "read configuration", Place: path,
				Err: errors.New("experiments belong into the gateway's own file")}
		}
		for _, w := range own.Warnings {
			s.p.Logger.Warn("a profile's file: "+w, "profile", name)
		}
		if profiles[name], err = s.manager(own, ""); err != nil {
			return nil, err
		}
		configs[name] = own
	}
	for _, name := range preset.Names() { // every preset is a profile, too
		if profiles[name] != nil {
			continue
		}
		own := *c
		if own.Settings, err = preset.Settings(name); err != nil {
			return nil, err
		}
		if profiles[name], err = s.manager(&own, ""); err != nil {
			return nil, err
		}
	}
	for _, x := range c.Experiments {
		for arm, own := range x.Configs {
			name := x.Name + "/" + arm
			if profiles[name], err = s.manager(own, name); err != nil {
				return nil, err
			}
		}
	}
	return &managed{m, profiles, configs}, nil
}

// assign returns the experiment arm of a new conversation; "": none.
func (s *Service) assign(conversation string) string {
	return experiments.Assign(s.config().Trials(), conversation)
}

// manager returns the manager of a configuration. Its edits name the arm of an experiment; "": no
// arm.
func (s *Service) manager(c *config.Config, arm string) (*policy.Manager, error) {
	condensing, why, err := s.condensing(c)
	if err != nil {
		return nil, err
	}
	if why != nil {
		s.p.Logger.Error("the summarizer cannot be used: conversations are condensed without a model",
			"model", c.Summarizer.Model, "error", why)
	}
	var hook func(context.Context, policy.Alert)
	if s.p.Alert != nil {
		hook = s.p.Alert(c)
	}
	var around policy.Hooks
	if s.p.Hooks != nil {
		around = s.p.Hooks(c)
	}
	return preset.New(preset.Options{
		Settings: c.Settings, Hooks: around, Estimate: c.Estimate, Condensing: condensing, Parser: s.p.Parser,
		Logger: s.p.Logger, Calibrator: s.calib,
		OnReport: s.report, OnEdit: s.metrics.Edit, Alert: s.alert(hook), Variant: arm,
	})
}

// Unusable is the error for a configured summarizer that cannot be used. Conversations are then
// condensed without a model.
type Unusable struct{ Err error }

// Error returns the reason.
func (u *Unusable) Error() string { return u.Err.Error() }

// Unwrap returns the cause.
func (u *Unusable) Unwrap() error { return u.Err }

// condensing returns how models condense by a configuration; nil: no model does. Why is the reason
// when the configured summarizer cannot be used.
func (s *Service) condensing(c *config.Config) (by *preset.Condensing, why *Unusable, err error) {
	if s.p.Condensing == nil {
		return nil, nil, nil
	}
	by, err = s.p.Condensing(c, s.ownModels)
	if why, is := errors.AsType[*Unusable](err); is {
		return nil, why, nil
	}
	return by, nil, err
}

// summarizer writes requested summaries; nil: digests are made.
func (s *Service) summarizer(c *config.Config) (policy.Summarizer, error) {
	condensing, _, err := s.condensing(c)
	if err != nil || condensing == nil {
		return nil, err
	}
	return condense.NewWriter(condensing.Writer)
}

// profileWindow returns the window that the configuration of a profile sets, in tokens; 0: not set.
// An arm of an experiment is a profile, too.
func (s *Service) profileWindow(profile string) int {
	own := s.config().Arm(profile)
	if named := s.profileConfigs.Load(); own == nil && named != nil {
		own = (*named)[profile]
	}
	if own == nil {
		return 0
	}
	return own.Window
}

// useConfigs puts the configurations of profiles in force. The files are locked, or not open yet.
func (s *Service) useConfigs(profiles map[string]*config.Config) {
	s.files.profiles = profiles
	s.profileConfigs.Store(&profiles)
}

func (s *Service) window(_ context.Context, model string) precis.Window {
	c := s.config()
	return window.Known{Set: c.Window, By: c.Origin("window"), Model: model, Table: s.catalog.Window}.Window()
}
