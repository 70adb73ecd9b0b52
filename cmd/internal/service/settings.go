package service

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"sync"
	"time"

	"precis"
	"precis/cmd/internal/config"
	"precis/dashboard"
	"precis/gateway"
	"precis/preset"
)

// files are the files of the configuration.
type files struct {
	mu       sync.Mutex                // held while they are read or written
	profiles map[string]*config.Config // of profiles that have a file of their own
	seen     map[string]time.Time      // when each was written, as the watcher knows it
}

// of returns the configuration that a profile was read from; nil: it has none. The
// files are locked.
func (s *Service) of(profile string) *config.Config {
	if profile == "" {
		return s.config()
	}
	return s.files.profiles[profile]
}

const opSave = "save settings"

// saveSettings changes the settings of a profile and writes what is in force then to the
// file that they are read from. When it cannot be written nothing is changed.
func (s *Service) saveSettings(ctx context.Context, profile string, p gateway.SettingsPatch) (gateway.Settings, error) {
	s.files.mu.Lock()
	defer s.files.mu.Unlock()
	return s.Gateway.SaveSettings(profile, p, func(in precis.Settings) error {
		c := s.of(profile)
		switch {
		case c == nil:
			return &precis.Error{Code: precis.CodeConflict, Op: opSave, Err: errors.New("this profile is a preset, or an arm of an experiment, and has no file of its own"),
				Hint: "write one and name it in gateway.profiles, as NAME=FILE"}
		case c.File == "":
			return &precis.Error{Code: precis.CodeConflict, Op: opSave, Err: errors.New("there is no configuration file"),
				Hint: "write one and begin again: precis config set"}
		}
		now, err := c.Save(ctx, c.Changes(in)...)
		if err == nil {
			s.wrote(profile, now)
		}
		return err
	})
}

// wrote takes note of a configuration that this process has written, so that it is not
// read again: settings of other profiles that were changed for this process alone would
// be lost. The files are locked.
func (s *Service) wrote(profile string, now *config.Config) {
	if profile == "" {
		s.cfg.Store(now)
	} else {
		profiles := maps.Clone(s.files.profiles) // who asks for a window reads the others
		profiles[profile] = now
		s.take(profiles)
	}
	if profile == "" && len(now.Experiments) > 0 {
		return // their arms follow the rest of the file, and are made anew
	}
	times := s.times()
	if s.files.seen != nil && now.Stands() { // else somebody else has written since
		s.files.seen[now.File] = times[now.File]
	}
}

// liveSettings are the settings of the gateway.
type liveSettings struct{ s *Service }

// Profiles returns the names of all profiles.
func (l liveSettings) Profiles() []string { return append([]string{""}, l.s.profiles()...) }

// Presets returns the names of the presets.
func (liveSettings) Presets() []string { return preset.Names() }

// Settings returns what is in force.
func (l liveSettings) Settings(profile string) (precis.Settings, error) {
	return l.s.Gateway.SettingsInForce(profile)
}

// File returns the file that the settings of a profile are read from; "": none.
func (l liveSettings) File(profile string) string {
	l.s.files.mu.Lock()
	defer l.s.files.mu.Unlock()
	if c := l.s.of(profile); c != nil {
		return c.File
	}
	return ""
}

// Unsaved returns what a file has to say, in addition, for the settings in force.
func (l liveSettings) Unsaved(profile string) (string, error) {
	in, err := l.s.Gateway.SettingsInForce(profile)
	if err != nil {
		return "", err
	}
	l.s.files.mu.Lock()
	c := cmp.Or(l.s.of(profile), l.s.config().Arm(profile))
	l.s.files.mu.Unlock()
	if c == nil { // a preset is what its name says
		if c, err = config.Load(config.Sources{Flags: map[string]string{"preset": profile}}); err != nil {
			return "", err
		}
	}
	text, err := config.Rewrite(nil, c.Changes(in)...)
	return string(text), err
}

// Change lets those change settings who may see everybody's conversations.
func (l liveSettings) Change(r *http.Request) func(string, dashboard.SettingsChange) error {
	if _, all, err := l.s.Gateway.Caller(r); err != nil || !all || !l.s.mayEdit(r) {
		return nil
	}
	return func(profile string, c dashboard.SettingsChange) (err error) {
		p := gateway.SettingsPatch{Preset: c.Preset, Auto: c.Auto, Percent: c.Percent, Prepare: c.Prepare, Warn: c.Warn, Target: c.Target}
		if c.Save {
			_, err = l.s.saveSettings(r.Context(), profile, p)
		} else {
			_, err = l.s.Gateway.PatchSettings(profile, p)
		}
		if err == nil {
			l.s.events.SettingsChanged(profile)
		}
		return err
	}
}
