package service

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/dashboard"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
)

// offer is a key on the settings page.
type offer struct {
	key     string
	choices []string
}

// offered are the keys on the settings page in addition to the form, with all allowed values; nil:
// any text. None of them names a file, a program or an address, because the right to change
// settings must not include reading files, running programs, or sending conversations elsewhere.
var offered = []offer{
	{modelKey, nil}, {templateKey, append([]string{""}, condense.Templates()...)}, {promptKey, nil},
	{"threshold_tokens", nil}, {"keep.messages", nil}, {"pin", nil}, {"rungs", nil},
	{"spend.conversation", nil}, {"spend.owner", nil}, {"spend.day", nil},
}

const (
	modelKey  = "summarizer.model"
	promptKey = "summarizer.prompt"
	// templateKey may name a file, which can only be removed here; oldPromptKey is its name of before.
	templateKey  = "summarizer.template"
	oldPromptKey = "summarizer.prompt_file"
	// thresholdsKey holds the thresholds of models and profiles, by name. A value sent under the
	// key itself adds another threshold.
	thresholdsKey = "profiles"
)

// Values returns the values that can be changed in the file of a profile.
func (l liveSettings) Values(profile string) []dashboard.SettingsValue {
	l.s.files.mu.Lock()
	c := l.s.configOf(profile)
	l.s.files.mu.Unlock()
	if c == nil || c.File == "" || l.s.p.Reload == nil {
		return nil
	}
	rows := c.Rows()
	named := map[string]config.Row{}
	for _, r := range rows {
		named[r.Key] = r
	}
	var out []dashboard.SettingsValue
	for _, o := range offered {
		r := named[o.key]
		v := dashboard.SettingsValue{Key: r.Key, Value: r.Value, Help: r.Help, From: r.Origin,
			Choices: o.choices}
		switch o.key {
		case modelKey:
			if _, why, _ := l.s.condensing(c); why != nil {
				v.Help = "It cannot be used, and conversations are condensed without a model: " +
					why.Error() + ". " + v.Help
			}
		case promptKey:
			v.Long, v.Builtin = config.MaxPrompt, condense.Prompt{Template: c.Summarizer.Template}.Text()
			if c.Summarizer.PromptFile != "" && v.Value == "" {
				continue // its text is used
			}
		case templateKey:
			if c.Summarizer.PromptFile != "" {
				v.Reset, v.Choices = true, nil
			}
		}
		out = append(out, v)
	}
	for _, r := range rows {
		if strings.HasPrefix(r.Key, thresholdsKey+".") {
			out = append(out, dashboard.SettingsValue{Key: r.Key, Value: r.Value, Help: r.Help,
				From: r.Origin})
		}
	}
	return append(out, dashboard.SettingsValue{Key: thresholdsKey,
		Help: "one more threshold, of a model or of a profile: NAME: PERCENT"})
}

// SetValues returns a function to change values for callers who may see all owners' conversations.
func (l liveSettings) SetValues(r *http.Request) func(context.Context, string, map[string]string) error {
	if _, all, err := l.s.Gateway.Caller(r); err != nil || !all || !l.s.mayEdit(r) {
		return nil
	}
	return func(ctx context.Context, profile string, values map[string]string) error {
		if err := l.s.saveValues(ctx, profile, values); err != nil {
			return err
		}
		return l.inForce(ctx, profile)
	}
}

// inForce reloads the configuration that was written, and notifies listeners.
func (l liveSettings) inForce(ctx context.Context, profile string) error {
	if _, err := l.s.Reload(ctx); err != nil {
		return err
	}
	l.s.events.PublishSettings(profile)
	return nil
}

// saveValues writes values to the file of a profile.
func (s *Service) saveValues(ctx context.Context, profile string, values map[string]string) error {
	var changes []config.Change
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if key == thresholdsKey || strings.HasPrefix(key, thresholdsKey+".") {
			change, err := thresholdChange(key, values[key])
			if err != nil {
				return err
			}
			changes = append(changes, change)
			continue
		}
		i := slices.IndexFunc(offered, func(o offer) bool { return o.key == key })
		if i < 0 {
			return precis.Errorf(precis.CodeInvalid, opSave, "%.60s cannot be changed here", key)
		}
		if err := offered[i].check(values[key]); err != nil {
			return err
		}
		changes = append(changes, config.Change{Key: key, Value: values[key], Remove: values[key] == ""})
		if key == templateKey {
			changes = append(changes, config.Change{Key: oldPromptKey, Remove: true})
		}
	}
	return s.saveChanges(ctx, profile, func(*config.Config) []config.Change { return changes })
}

// thresholdChange returns the change of one model's or profile's threshold. A new one is given as
// name and value, separated by the last colon, because names of models may contain colons.
func thresholdChange(key, value string) (config.Change, error) {
	name := strings.TrimPrefix(key, thresholdsKey+".")
	if key == thresholdsKey {
		at := max(strings.LastIndex(value, ":"), 0)
		name, value = strings.TrimSpace(value[:at]), strings.TrimSpace(strings.TrimPrefix(value[at:], ":"))
		if name == "" || value == "" {
			return config.Change{}, precis.Errorf(precis.CodeInvalid, opSave, "%s: want NAME: PERCENT", key)
		}
	} else if value == "" {
		return config.Change{Key: key, Remove: true}, nil
	}
	percent, err := strconv.ParseFloat(value, 64)
	own := policy.Settings{Percent: policy.MaxPercent, Profiles: map[string]float64{name: percent}}
	if _, _, warnings := own.Threshold(name); err != nil || len(warnings) > 0 {
		return config.Change{}, precis.Errorf(precis.CodeInvalid, opSave,
			"the threshold of %.60q is %.40q, want %d, or %g to %g", name, value, policy.Inherit,
			policy.MinPercent, policy.MaxPercent)
	}
	return config.Change{Key: thresholdsKey + "." + name, Value: value}, nil
}

// saveChanges applies changes to the file of a profile. If the file would become invalid, or the
// changes would have no effect, it is not written.
func (s *Service) saveChanges(ctx context.Context, profile string,
	changes func(*config.Config) []config.Change) error {
	s.files.mu.Lock()
	defer s.files.mu.Unlock()
	c := s.configOf(profile)
	if c == nil || c.File == "" {
		return &precis.Error{Code: precis.CodeConflict, Op: opSave,
			Err: errors.New("there is no configuration file")}
	}
	list := changes(c)
	for _, change := range list {
		if change.Key == modelKey && change.Value != "" {
			next := *c
			next.Summarizer.Model = change.Value
			if _, why, _ := s.condensing(&next); why != nil {
				return why
			}
		}
	}
	_, err := c.Save(ctx, list...)
	return err
}

// check refuses values that the configuration accepts but the page does not: files, and unknown
// names.
func (o offer) check(v string) error {
	switch {
	case v == "":
		return nil
	case o.choices != nil && !slices.Contains(o.choices, v):
		return precis.Errorf(precis.CodeInvalid, opSave, "%s is %.40q, want one of %q", o.key, v, o.choices)
	case o.key == "rungs" && v != "all":
		for name := range strings.SplitSeq(v, ",") {
			if name = strings.TrimSpace(name); !slices.Contains(preset.Rungs(), name) {
				return precis.Errorf(precis.CodeInvalid, opSave, "there is no rung %.40q, want some of %v",
					name, preset.Rungs())
			}
		}
	}
	return nil
}

// Owners returns the owners of keys, for admins.
func (l liveSettings) Owners(r *http.Request) []dashboard.Owner {
	if _, all, err := l.s.Gateway.Caller(r); err != nil || !all || !l.s.keys.asks {
		return nil
	}
	keys, err := ReadKeys(l.s.config().Gateway.KeysFile)
	if err != nil {
		return nil
	}
	var out []dashboard.Owner
	for _, name := range slices.Compact(slices.Sorted(maps.Values(keys.Owners))) {
		out = append(out, dashboard.Owner{Name: name, Admin: keys.Admins[name]})
	}
	return out
}
