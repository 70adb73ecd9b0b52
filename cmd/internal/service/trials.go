package service

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/dashboard"
)

// offeredToArms are the keys of arms on the settings page.
var offeredToArms = []string{"preset", "threshold", "target"}

// Experiments returns the experiments of the configuration file.
func (l liveSettings) Experiments() []dashboard.SettingsExperiment {
	l.s.files.mu.Lock()
	defer l.s.files.mu.Unlock()
	var out []dashboard.SettingsExperiment
	for _, x := range l.s.configOf("").Experiments {
		e := dashboard.SettingsExperiment{Name: x.Name, Share: strconv.FormatFloat(x.Share, 'g', -1, 64)}
		for _, a := range x.Arms {
			own := maps.Clone(x.Own[a.Name])
			arm := dashboard.SettingsArm{Name: a.Name, Weight: strconv.Itoa(max(a.Weight, 1)),
				Alone: own == nil, Preset: own["preset"], Threshold: own["threshold"], Target: own["target"]}
			for _, key := range offeredToArms {
				delete(own, key)
			}
			for _, key := range slices.Sorted(maps.Keys(own)) {
				arm.Others = append(arm.Others, key+": "+own[key])
			}
			e.Arms = append(e.Arms, arm)
		}
		out = append(out, e)
	}
	return out
}

// SetExperiment returns a function to set up experiments for callers who may see all owners'
// conversations.
func (l liveSettings) SetExperiment(r *http.Request) func(context.Context,
	dashboard.SettingsExperiment) error {
	if l.SetValues(r) == nil {
		return nil
	}
	return func(ctx context.Context, x dashboard.SettingsExperiment) error {
		for _, name := range append(namesOf(x.Arms), x.Name) {
			if name == "" || len(name) > 64 ||
				strings.ContainsFunc(name, func(r rune) bool { return r == '/' || unicode.IsControl(r) }) {
				return precis.Errorf(precis.CodeInvalid, opSave,
					"the name %.70q is empty, has more than 64 bytes, or a slash in it", name)
			}
		}
		if err := l.s.saveChanges(ctx, "",
			func(c *config.Config) []config.Change { return changesOf(c, x) }); err != nil {
			return err
		}
		return l.inForce(ctx, "")
	}
}

// changesOf returns the changes to a configuration file that give it the experiment x; without arms
// the experiment is removed.
func changesOf(c *config.Config, x dashboard.SettingsExperiment) []config.Change {
	is, there := experimentOf(c, x.Name)
	if len(x.Arms) == 0 {
		return []config.Change{{Key: config.ExperimentKey(x.Name), Remove: true}}
	}
	if x.Share == "" {
		x.Share = "100" // the default
	}
	var out []config.Change
	if was := strconv.FormatFloat(is.Share, 'g', -1, 64); !there || x.Share != was {
		out = append(out, config.Change{Key: config.ExperimentKey(x.Name, "share"), Value: x.Share})
	}
	for _, a := range x.Arms {
		out = append(out, changesOfArm(is, x.Name, a)...)
	}
	for _, a := range is.Arms { // last, so that the experiment always has an arm
		if !slices.Contains(namesOf(x.Arms), a.Name) {
			out = append(out, config.Change{Key: config.ExperimentKey(x.Name, a.Name, ""), Remove: true})
		}
	}
	return out
}

// changesOfArm returns the changes that give an experiment the arm a.
func changesOfArm(is config.Experiment, experiment string, a dashboard.SettingsArm) []config.Change {
	own, there := is.Own[a.Name]
	alone := there && own == nil
	whole := config.ExperimentKey(experiment, a.Name, "")
	var out []config.Change
	switch {
	case a.Alone && alone:
		return nil
	case there && a.Alone != alone: // the earlier arm is removed as a whole
		out = append(out, config.Change{Key: whole, Remove: true})
		own, there = nil, false
	}
	if a.Alone {
		return append(out, config.Change{Key: whole, Value: config.LeftAlone})
	}
	weight := 1
	for _, w := range is.Arms {
		if w.Name == a.Name && there {
			weight = max(w.Weight, 1)
		}
	}
	if a.Weight == "" {
		a.Weight = "1"
	}
	if !there || a.Weight != strconv.Itoa(weight) {
		out = append(out, config.Change{Key: config.ExperimentKey(experiment, a.Name, "weight"),
			Value: a.Weight})
	}
	for i, value := range []string{a.Preset, a.Threshold, a.Target} {
		key := offeredToArms[i]
		if value != own[key] {
			out = append(out, config.Change{Key: config.ExperimentKey(experiment, a.Name, key), Value: value,
				Remove: value == ""})
		}
	}
	return out
}

// experimentOf returns the experiment with a name.
func experimentOf(c *config.Config, name string) (config.Experiment, bool) {
	i := slices.IndexFunc(c.Experiments, func(x config.Experiment) bool { return x.Name == name })
	if i < 0 {
		return config.Experiment{}, false
	}
	return c.Experiments[i], true
}

func namesOf(arms []dashboard.SettingsArm) []string {
	out := make([]string, len(arms))
	for i, a := range arms {
		out[i] = a.Name
	}
	return out
}
