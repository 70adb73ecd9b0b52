package dashboard

import (
	"net/http"
	"net/url"

	"precis"
)

// Settings are the settings in force, where they can be read and perhaps changed.
// Implementations are safe for concurrent use.
type Settings interface {
	// Profiles returns the names of the profiles, the default one, "", first.
	Profiles() []string
	// Settings returns those of a profile.
	Settings(profile string) (precis.Settings, error)
	// Change changes those of a profile from now on. Nil: the caller may not.
	Change(r *http.Request) func(profile string, c SettingsChange) error
	// Presets returns the names of the presets.
	Presets() []string
}

// SettingsFile is what [Settings] can be, too: settings that are read from a file and
// can be written to it.
type SettingsFile interface {
	Settings
	// File returns the path of the file of a profile; "": it has none, and changes
	// last as long as the process.
	File(profile string) string
	// Unsaved returns, as it would stand in a file, what is in force in a profile and
	// not in its file; "" when the file says all of it.
	Unsaved(profile string) (string, error)
}

// SettingsChange is what to change. Nil stays as it is. Percentages are of the window.
type SettingsChange struct {
	Preset                         *string
	Auto                           *bool
	Percent, Warn, Prepare, Target *float64
	// Save writes what is in force then to the file of the profile, see
	// [SettingsFile]. When that fails nothing is changed.
	Save bool
}

// settingsPage shows the settings of a profile.
type settingsPage struct {
	Profile  string
	Profiles []string
	Presets  []string
	S        precis.Settings
	Change   bool
	Done     bool
	Saved    bool // to the file
	File     string
	Unsaved  string
	More     *valuesPart // nil: there are no further values
	Trials   *trialsPart // nil: experiments cannot be set up here
}

func (c *call) settings() error {
	p := settingsPage{Profile: c.value("profile"), Profiles: c.o.Settings.Profiles(), Presets: c.o.Settings.Presets(), Done: c.value("did") != "", Saved: c.value("did") == "file"}
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

// patchSettings changes what a form says.
func (c *call) patchSettings() error {
	change := c.o.Settings.Change(c.r)
	if change == nil {
		return refusal{http.StatusForbidden, precis.Errorf(precis.CodeInvalid, "change settings", "this needs an admin's key")}
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

// changeOf reads a form. Fields that are empty stay as they are, and with a preset the
// percentages are its own.
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
		return s, nil // its own numbers are wanted, not those that the page showed
	}
	for name, to := range map[string]**float64{"percent": &s.Percent, "warn": &s.Warn, "prepare": &s.Prepare, "target": &s.Target} {
		text := f.Get(name)
		if text == "" {
			continue
		}
		v, bad := precis.ParsePercent(text)
		if bad != nil {
			return s, precis.Errorf(precis.CodeInvalid, "read form", "%s is %.20q, want a percentage", name, text)
		}
		*to = &v
	}
	return s, nil
}
