package profiles

import (
	"maps"
	"math"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
)

// Settings are a profile's settings in force that can be read and changed at run time. Percentages
// are of the window.
type Settings struct {
	Profile    string             `json:"profile"` // "": the default one
	Preset     string             `json:"preset"`
	Auto       bool               `json:"auto"`
	Percent    float64            `json:"percent"`    // threshold
	Prepare    float64            `json:"prepare"`    // 0: never
	Warn       float64            `json:"warn"`       // 0: never
	Target     float64            `json:"target"`     // 0: as much as is allowed
	Thresholds map[string]float64 `json:"thresholds"` // by model or profile; -1 inherits

	// The following settings cannot be changed here.
	Rungs        []string `json:"rungs,omitempty"` // absent: all
	Observe      bool     `json:"observe"`
	KeepMessages int      `json:"keep_messages"`
	// of the view, to act above whatever the window is; 0: no limit
	Tokens int    `json:"threshold_tokens"`
	Pin    string `json:"pin,omitempty"`
}

// Patch is a change of settings. Nil fields stay unchanged.
type Patch struct {
	// applied first; thresholds, pins, tools and spending limits stay
	Preset     *string             `json:"preset,omitempty"`
	Auto       *bool               `json:"auto,omitempty"`
	Percent    *float64            `json:"percent,omitempty"`
	Prepare    *float64            `json:"prepare,omitempty"`
	Warn       *float64            `json:"warn,omitempty"`
	Target     *float64            `json:"target,omitempty"`
	Thresholds map[string]*float64 `json:"thresholds,omitempty"` // by model or profile; null removes one
}

// Settings returns the settings in force of a profile; "" is the default one.
func (s *Set) Settings(profile string) (Settings, error) {
	m, err := s.Manager(profile)
	if err != nil {
		return Settings{}, err
	}
	return settingsOf(profile, m.Settings()), nil
}

func settingsOf(profile string, s policy.Settings) Settings {
	out := Settings{
		Profile: profile, Preset: s.Preset, Auto: s.Auto, Percent: s.Percent, Prepare: s.Prepare,
		Warn: s.Warn, Target: s.Target, Thresholds: map[string]float64{},
		Rungs: s.Rungs, Observe: s.Observe, KeepMessages: s.KeepMessages, Tokens: s.Tokens, Pin: s.Pin,
	}
	maps.Copy(out.Thresholds, s.Profiles)
	return out
}

// Patch changes the settings of a profile in this process, for new requests. The error is
// [precis.CodeInvalid], and then the settings stay unchanged. A preset that calls models does so
// only if the manager was made with models.
func (s *Set) Patch(profile string, p Patch) (Settings, error) {
	return s.Save(profile, p, func(policy.Settings) error { return nil })
}

// PolicySettings returns a copy of all settings of a profile; "" selects the default one.
func (s *Set) PolicySettings(profile string) (policy.Settings, error) {
	m, err := s.Manager(profile)
	if err != nil {
		return policy.Settings{}, err
	}
	out := m.Settings()
	out.Profiles = maps.Clone(out.Profiles)
	return out, nil
}

// Save is [Set.Patch] that calls save with the new settings before they are in force. When save
// fails, the settings stay unchanged and its error is returned.
func (s *Set) Save(profile string, p Patch,
	save func(policy.Settings) error) (Settings, error) {
	s.patching.Lock()
	defer s.patching.Unlock()
	m, err := s.Manager(profile)
	if err != nil {
		return Settings{}, err
	}
	next, err := p.apply(m.Settings())
	if err != nil {
		return Settings{}, err
	}
	if err := next.Validate(); err != nil {
		return Settings{}, err
	}
	if err := save(next); err != nil {
		return Settings{}, err
	}
	if err := m.SetSettings(next); err != nil {
		return Settings{}, err
	}
	return settingsOf(profile, m.Settings()), nil
}

func (p Patch) apply(s policy.Settings) (policy.Settings, error) {
	if p.Preset != nil {
		if *p.Preset == "" {
			return s, precis.Errorf(precis.CodeInvalid, "patch settings", "preset is empty, want one of %v",
				preset.Names())
		}
		base, err := preset.Settings(*p.Preset)
		if err != nil {
			return s, err
		}
		base.Profiles, base.Pin, base.Tools, base.Spend = s.Profiles, s.Pin, s.Tools, s.Spend
		s = base
	}
	set := func(to *float64, from *float64) {
		if from != nil {
			*to = *from
		}
	}
	set(&s.Percent, p.Percent)
	set(&s.Prepare, p.Prepare)
	set(&s.Warn, p.Warn)
	if p.Target != nil {
		s.Target = policy.Percent(*p.Target)
	}
	if p.Auto != nil {
		s.Auto = *p.Auto
	}
	s.Profiles = maps.Clone(s.Profiles)
	for name, v := range p.Thresholds {
		if v == nil {
			delete(s.Profiles, name)
			continue
		}
		if s.Profiles == nil {
			s.Profiles = map[string]float64{}
		}
		s.Profiles[name] = *v
	}
	return s, p.check()
}

// check refuses thresholds that would silently be replaced by others.
func (p Patch) check() error {
	if p.Percent != nil && !inRange(*p.Percent) {
		return outOfRange("percent", *p.Percent)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Thresholds)) {
		if v := p.Thresholds[name]; v != nil && *v != policy.Inherit && !inRange(*v) {
			return outOfRange("thresholds/"+name, *v)
		}
	}
	return nil
}

func inRange(v float64) bool {
	return !math.IsNaN(v) && v >= policy.MinPercent && v <= policy.MaxPercent
}

func outOfRange(name string, v float64) error {
	e := precis.Errorf(precis.CodeInvalid, "patch settings", "%g is not within %g to %g", v,
		policy.MinPercent, policy.MaxPercent)
	e.Place = name
	return e
}
