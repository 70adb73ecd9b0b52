// Package profiles holds the managers that requests can select by the name of a profile, and their
// settings, which can be changed while they are used.
package profiles

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/store"
)

// Set are the profiles of a gateway. Make one with [New]. It is safe for concurrent use.
type Set struct {
	managers atomic.Pointer[managers]
	patching sync.Mutex // held while settings are changed
}

type managers struct {
	manager  *policy.Manager // the default one
	profiles map[string]*policy.Manager
}

// New returns a set with a default manager and the managers of named profiles, which may be nil.
func New(m *policy.Manager, profiles map[string]*policy.Manager) *Set {
	s := &Set{}
	s.Replace(m, profiles)
	return s
}

// Replace replaces all managers.
func (s *Set) Replace(m *policy.Manager, profiles map[string]*policy.Manager) {
	s.managers.Store(&managers{m, profiles})
}

// Default returns the default manager.
func (s *Set) Default() *policy.Manager { return s.managers.Load().manager }

// Manager returns the manager of a profile; "" selects the default one.
func (s *Set) Manager(profile string) (*policy.Manager, error) {
	p := s.managers.Load()
	if profile == "" {
		return p.manager, nil
	}
	if m, ok := p.profiles[profile]; ok {
		return m, nil
	}
	return nil, precis.Errorf(precis.CodeNotFound, "choose profile", "there is no profile %.60q", profile)
}

// ForRecord returns the profile and the manager of a conversation with a record: the profile that its newest
// request asked for, else its arm, else the default.
func (s *Set) ForRecord(info store.Record) (string, *policy.Manager) {
	for _, name := range []string{info.Profile, info.Arm} {
		if m, err := s.Manager(name); name != "" && err == nil {
			return name, m
		}
	}
	return "", s.managers.Load().manager
}

// Info is a profile that requests can select. The default one is named "".
type Info struct {
	Name    string   `json:"name"`
	Preset  string   `json:"preset"`
	Percent float64  `json:"percent"`
	Auto    bool     `json:"auto"`
	Rungs   []string `json:"rungs,omitempty"` // absent: all
}

// List are the profiles of a set, the default one first.
type List struct {
	Items []Info `json:"items"`
}

// List lists the profiles.
func (s *Set) List() List {
	p := s.managers.Load()
	info := func(name string, m *policy.Manager) Info {
		in := m.Settings()
		return Info{Name: name, Preset: in.Preset, Percent: in.Percent, Auto: in.Auto, Rungs: in.Rungs}
	}
	out := List{Items: []Info{info("", p.manager)}}
	for _, name := range slices.Sorted(maps.Keys(p.profiles)) {
		out.Items = append(out.Items, info(name, p.profiles[name]))
	}
	return out
}
