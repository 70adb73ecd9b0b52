package dashboard

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
)

// SettingsExperiments is an optional interface of [Settings] with a file that contains experiments,
// which can be set up on the page.
type SettingsExperiments interface {
	SettingsValues
	// Experiments returns the experiments, by name.
	Experiments() []SettingsExperiment
	// SetExperiment returns a function that writes an experiment to the file, replacing one with
	// the same name, and puts the file in force; an experiment without arms is removed. Nil: the
	// caller is not allowed to.
	SetExperiment(r *http.Request) func(ctx context.Context, x SettingsExperiment) error
}

// SettingsExperiment is an experiment of a configuration file. Texts are as in the file; "" means
// missing.
type SettingsExperiment struct {
	Name  string
	Share string // percent of new conversations
	Arms  []SettingsArm
}

// SettingsArm is an arm of an experiment: its differences from the rest of the file.
type SettingsArm struct {
	Name                      string
	Weight                    string // relative share of the conversations
	Alone                     bool   // its conversations are only observed; other fields are ignored
	Preset, Threshold, Target string
	Others                    []string // further settings, which stay: "key: value"
}

// trialsPart is the part of the settings page about experiments.
type trialsPart struct {
	Experiments []SettingsExperiment
	New         SettingsExperiment // the form for a new one
}

// trials reads the experiments that the caller may change; nil: none.
func (c *call) trials(profile string) *trialsPart {
	x, ok := c.o.Settings.(SettingsExperiments)
	if !ok || profile != "" || x.SetExperiment(c.r) == nil || x.File("") == "" {
		return nil
	}
	return &trialsPart{Experiments: x.Experiments(),
		New: SettingsExperiment{Share: "100", Arms: []SettingsArm{{Name: "control", Weight: "1"}}}}
}

// setExperiment writes the experiment of a form.
func (c *call) setExperiment() error {
	s, ok := c.o.Settings.(SettingsExperiments)
	var set func(context.Context, SettingsExperiment) error
	if ok {
		set = s.SetExperiment(c.r)
	}
	if set == nil {
		return refusal{http.StatusForbidden,
			precis.Errorf(precis.CodeInvalid, "change settings", "this needs an admin's key")}
	}
	x, err := experimentOf(c.r.PostForm)
	if err != nil {
		return err
	}
	if c.r.PostForm.Get("new") != "" && slices.ContainsFunc(s.Experiments(),
		func(o SettingsExperiment) bool { return o.Name == x.Name }) {
		return precis.Errorf(precis.CodeInvalid, "set up experiment", "there is one named %q already", x.Name)
	}
	if err := set(c.ctx(), x); err != nil {
		return err
	}
	http.Redirect(c.w, c.r, c.path("settings", "?did=file"), http.StatusSeeOther)
	return nil
}

// experimentOf reads a form. Fields of arms occur once per arm. Arms without a name, and arms to be
// removed, are skipped.
func experimentOf(f url.Values) (SettingsExperiment, error) {
	x := SettingsExperiment{Name: strings.TrimSpace(f.Get("name")), Share: strings.TrimSpace(f.Get("share"))}
	if x.Name == "" {
		return x, precis.Errorf(precis.CodeInvalid, "set up experiment", "it needs a name")
	}
	if f.Get("remove") != "" {
		return x, nil
	}
	names := f["arm"]
	for _, field := range []string{"does", "weight", "preset", "threshold", "target"} {
		if len(f[field]) != len(names) {
			return x, precis.Errorf(precis.CodeInvalid, "set up experiment",
				"%s is there %d times for %d arms", field, len(f[field]), len(names))
		}
	}
	for i, name := range names {
		a := SettingsArm{Name: strings.TrimSpace(name), Alone: f["does"][i] == "alone"}
		if a.Name == "" || f["does"][i] == "remove" {
			continue
		}
		if slices.ContainsFunc(x.Arms, func(o SettingsArm) bool { return o.Name == a.Name }) {
			return x, precis.Errorf(precis.CodeInvalid, "set up experiment", "two arms are named %q", a.Name)
		}
		for field, to := range map[string]*string{"weight": &a.Weight, "preset": &a.Preset,
			"threshold": &a.Threshold, "target": &a.Target} {
			*to = strings.TrimSpace(f[field][i])
		}
		x.Arms = append(x.Arms, a)
	}
	if len(x.Arms) == 0 {
		return x, precis.Errorf(precis.CodeInvalid, "set up experiment", "%q has no arm", x.Name)
	}
	return x, nil
}
