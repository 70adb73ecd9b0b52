package dashboard

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"precis"
)

// SettingsExperiments is what [SettingsValues] can be, too: settings whose file has
// experiments, which can be set up on the page.
type SettingsExperiments interface {
	SettingsValues
	// Experiments returns the experiments, by name.
	Experiments() []SettingsExperiment
	// SetExperiment writes an experiment to the file, in the place of the one with its
	// name, and puts the file in force; one without arms is taken out. Nil: the caller
	// may not.
	SetExperiment(r *http.Request) func(ctx context.Context, x SettingsExperiment) error
}

// SettingsExperiment is an experiment of a configuration file. Texts are as they stand
// there; "" is not there.
type SettingsExperiment struct {
	Name  string
	Share string // percent of the conversations that begin
	Arms  []SettingsArm
}

// SettingsArm is an arm of an experiment: what it does otherwise than the rest of the file
// says.
type SettingsArm struct {
	Name                      string
	Weight                    string // how many conversations it gets in proportion
	Alone                     bool   // its conversations are only watched; all else does not count
	Preset, Threshold, Target string
	Others                    []string // what it sets besides, which stays: "key: value"
}

// trialsPart is what the page of settings shows of experiments.
type trialsPart struct {
	Experiments []SettingsExperiment
	New         SettingsExperiment // the form of another one
}

// trials reads the experiments that the caller may change; nil: none.
func (c *call) trials(profile string) *trialsPart {
	x, ok := c.o.Settings.(SettingsExperiments)
	if !ok || profile != "" || x.SetExperiment(c.r) == nil || x.File("") == "" {
		return nil
	}
	return &trialsPart{Experiments: x.Experiments(), New: SettingsExperiment{Share: "100", Arms: []SettingsArm{{Name: "control", Weight: "1"}}}}
}

// setExperiment writes the experiment of a form.
func (c *call) setExperiment() error {
	s, ok := c.o.Settings.(SettingsExperiments)
	var set func(context.Context, SettingsExperiment) error
	if ok {
		set = s.SetExperiment(c.r)
	}
	if set == nil {
		return refusal{http.StatusForbidden, precis.Errorf(precis.CodeInvalid, "change settings", "this needs an admin's key")}
	}
	x, err := experimentOf(c.r.PostForm)
	if err != nil {
		return err
	}
	if c.r.PostForm.Get("new") != "" && slices.ContainsFunc(s.Experiments(), func(o SettingsExperiment) bool { return o.Name == x.Name }) {
		return precis.Errorf(precis.CodeInvalid, "set up experiment", "there is one named %q already", x.Name)
	}
	if err := set(c.ctx(), x); err != nil {
		return err
	}
	http.Redirect(c.w, c.r, c.path("settings", "?did=file"), http.StatusSeeOther)
	return nil
}

// experimentOf reads a form, whose fields of arms come once for each. An arm without a name
// is none, and neither is one that is to be taken out.
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
			return x, precis.Errorf(precis.CodeInvalid, "set up experiment", "%s is there %d times for %d arms", field, len(f[field]), len(names))
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
		for field, to := range map[string]*string{"weight": &a.Weight, "preset": &a.Preset, "threshold": &a.Threshold, "target": &a.Target} {
			*to = strings.TrimSpace(f[field][i])
		}
		x.Arms = append(x.Arms, a)
	}
	if len(x.Arms) == 0 {
		return x, precis.Errorf(precis.CodeInvalid, "set up experiment", "%q has no arm", x.Name)
	}
	return x, nil
}
