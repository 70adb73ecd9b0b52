package service

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/dashboard"
	"github.com/precis-dev/precis/gateway/profiles"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
)

// files are the files of the configuration.
type files struct {
	mu       sync.Mutex                // held while they are read or written
	profiles map[string]*config.Config // of profiles with a file of their own
	modTimes map[string]time.Time      // modification times known to the watcher
}

// configOf returns the configuration that a profile was read from; nil: it has none. The files are
// locked.
func (s *Service) configOf(profile string) *config.Config {
	if profile == "" {
		return s.config()
	}
	return s.files.profiles[profile]
}

const opSave = "save settings"

// saveSettings changes the settings of a profile and writes the result to the profile's file. If
// writing fails, the settings stay unchanged.
func (s *Service) saveSettings(ctx context.Context, profile string,
	p profiles.Patch) (profiles.Settings, error) {
	s.files.mu.Lock()
	defer s.files.mu.Unlock()
	return s.Gateway.Profiles().Save(profile, p, func(in policy.Settings) error {
		c := s.configOf(profile)
		switch {
		case c == nil:
			return &precis.Error{Code: precis.CodeConflict, Op: opSave,
				Err:  errors.New("this profile is a preset, or an arm of an experiment, and has no file of its own"),
				Hint: "write one and name it in gateway.profiles, as NAME=FILE"}
		case c.File == "":
			return &precis.Error{Code: precis.CodeConflict, Op: opSave,
				Err:  errors.New("there is no configuration file"),
				Hint: "write one and begin again: precis config set"}
		}
		now, err := c.Save(ctx, c.Changes(in)...)
		if err == nil {
			s.recordWritten(profile, now)
		}
		return err
	})
}

// recordWritten records that this process has written a configuration, so that it is not reloaded: that
// would lose settings of other profiles that were changed only in this process. The files are
// locked.
func (s *Service) recordWritten(profile string, now *config.Config) {
	if profile == "" {
		s.cfg.Store(now)
	} else {
		profiles := maps.Clone(s.files.profiles) // concurrent readers keep the old map
		profiles[profile] = now
		s.useConfigs(profiles)
	}
	if profile == "" && len(now.Experiments) > 0 {
		return // their arms depend on the rest of the file, and are made again
	}
	times := s.times()
	if s.files.modTimes != nil && now.Unchanged() { // otherwise another program has changed it since
		s.files.modTimes[now.File] = times[now.File]
	}
}

// liveSettings are the gateway's current settings.
type liveSettings struct{ s *Service }

// Profiles returns the names of all profiles.
func (l liveSettings) Profiles() []string { return append([]string{""}, l.s.profiles()...) }

// Presets returns the names of the presets.
func (liveSettings) Presets() []string { return preset.Names() }

// Settings returns the settings in force.
func (l liveSettings) Settings(profile string) (policy.Settings, error) {
	return l.s.Gateway.Profiles().PolicySettings(profile)
}

// File returns the file of a profile's settings; "": none.
func (l liveSettings) File(profile string) string {
	l.s.files.mu.Lock()
	defer l.s.files.mu.Unlock()
	if c := l.s.configOf(profile); c != nil {
		return c.File
	}
	return ""
}

// Unsaved returns the lines that the file lacks for the settings in force.
func (l liveSettings) Unsaved(profile string) (string, error) {
	in, err := l.s.Gateway.Profiles().PolicySettings(profile)
	if err != nil {
		return "", err
	}
	l.s.files.mu.Lock()
	c := cmp.Or(l.s.configOf(profile), l.s.config().Arm(profile))
	l.s.files.mu.Unlock()
	if c == nil { // the name of a preset determines its settings
		if c, err = config.Load(config.Sources{Flags: map[string]string{"preset": profile}}); err != nil {
			return "", err
		}
	}
	text, err := config.Rewrite(nil, c.Changes(in)...)
	return string(text), err
}

// Change returns a function to change settings for callers who may see all owners' conversations.
func (l liveSettings) Change(r *http.Request) func(string, dashboard.SettingsChange) error {
	if _, all, err := l.s.Gateway.Caller(r); err != nil || !all || !l.s.mayEdit(r) {
		return nil
	}
	return func(profile string, c dashboard.SettingsChange) (err error) {
		p := profiles.Patch{Preset: c.Preset, Auto: c.Auto, Percent: c.Percent, Prepare: c.Prepare,
			Warn: c.Warn, Target: c.Target}
		if c.Save {
			_, err = l.s.saveSettings(r.Context(), profile, p)
		} else {
			_, err = l.s.Gateway.Profiles().Patch(profile, p)
		}
		if err == nil {
			l.s.events.PublishSettings(profile)
		}
		return err
	}
}
