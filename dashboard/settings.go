package dashboard

import (
	"net/http"
	"net/url"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
)

// Settings are the settings in force, which can be read and possibly changed. Implementations are
// safe for concurrent use.
type Settings interface {
	// Profiles returns the names of the profiles, the default one, "", first.
	Profiles() []string
	// Settings returns the settings of a profile.
	Settings(profile string) (policy.Settings, error)
	// Change returns a function that changes the settings of a profile from now on. Nil: the caller
	// is not allowed to.
	Change(r *http.Request) func(profile string, c SettingsChange) error
	// Presets returns the names of the presets.
	Presets() []string
}

// SettingsFile is an optional interface of [Settings] that are read from a file and can be written
// to it.
type SettingsFile interface {
	Settings
	// File returns the path of the file of a profile; "": it has none, and changes last as long as
	// the process.
	File(profile string) string
	// Unsaved returns, in the format of the file, the settings of a profile in force that its file
	// lacks; "" if the file has all of them.
	Unsaved(profile string) (string, error)
}

// SettingsChange is a change of settings. Nil fields stay unchanged. Percentages are of the window.
type SettingsChange struct {
	Preset                         *string
	Auto                           *bool
	Percent, Warn, Prepare, Target *float64
	// Save writes the resulting settings to the file of the profile, see [SettingsFile]. On failure
	// no setting is changed.
	Save bool
}

// settingsPage shows the settings of a profile.
type settingsPage struct {
	Profile  string
	Profiles []string
	Presets  []string
	S        policy.Settings
	Change   bool
	Done     bool
	Saved    bool // to the file
	File     string
	Unsaved  string
	More     *valuesPart // nil: there are no further values
	Trials   *trialsPart // nil: experiments cannot be set up here
}

func (c *call) settings() error {
	p := settingsPage{Profile: c.value("profile"), Profiles: c.o.Settings.Profiles(),
		Presets: c.o.Settings.Presets(), Done: c.value("did") != "", Saved: c.value("did") == "file"}
	var err error
	if p.S, err = c.o.Settings.Settings(p.Profile); err != nil {
		return err
	}
	p.Change = c.o.Settings.Change(c.r) != nil
	if f, ok := c.o.Settings.(SettingsFile); ok && p.Change {
		p.File = f.File(p.Profile)
		if p.Unsaved, err = f.Unsaved(p.Profile); err != nil {
			return err
		}
	}
	p.More, p.Trials = c.values(p.Profile), c.trials(p.Profile)
	return c.show("settings", page{Title: c.text("settings.title"), Tab: "settings", Data: p})
}

// patchSettings applies the changes of a form.
func (c *call) patchSettings() error {
	change := c.o.Settings.Change(c.r)
	if change == nil {
		return refusal{http.StatusForbidden,
			precis.Errorf(precis.CodeInvalid, "change settings", "this needs an admin's key")}
	}
	f := c.r.PostForm
	s, err := changeOf(f)
	if err == nil {
		err = change(f.Get("profile"), s)
	}
	if err != nil {
		return err
	}
	did := "1"
	if s.Save {
		did = "file"
	}
	q := url.Values{"did": {did}, "profile": {f.Get("profile")}}
	http.Redirect(c.w, c.r, c.path("settings", "?"+q.Encode()), http.StatusSeeOther)
	return nil
}

// changeOf reads a form. Empty fields stay unchanged, and with a preset its own percentages are
// used.
func changeOf(f url.Values) (s SettingsChange, err error) {
	s.Save = f.Get("save") != ""
	if v := f.Get("preset"); v != "" {
		s.Preset = &v
	}
	if v := f.Get("auto"); v != "" {
		on := v == "on"
		s.Auto = &on
	}
	if s.Preset != nil {
		return s, nil // its own numbers apply, not those that the page showed
	}
	for name, to := range map[string]**float64{"percent": &s.Percent, "warn": &s.Warn, "prepare": &s.Prepare,
		"target": &s.Target} {
		text := f.Get(name)
		if text == "" {
			continue
		}
		v, bad := policy.ParsePercent(text)
		if bad != nil {
			return s, precis.Errorf(precis.CodeInvalid, "read form", "%s is %.20q, want a percentage", name,
				text)
		}
		*to = &v
	}
	return s, nil
}
