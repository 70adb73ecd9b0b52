package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/precis-dev/precis/internal/experiments"
	"github.com/precis-dev/precis/internal/strictyaml"
	"github.com/precis-dev/precis/preset"
)

// Experiment compares configurations on the conversations of a gateway. Each new conversation that
// takes part is managed by one of them, see [experiments.Assign].
type Experiment struct {
	experiments.Trial                    // arms by name
	Configs           map[string]*Config // of the arms, by name; without experiments of their own
	// Own are the values that each arm sets itself, except its weight, by key; nil for an arm that
	// is left alone.
	Own map[string]map[string]string
}

// Trials returns the experiments without their configurations.
func (c *Config) Trials() []experiments.Trial {
	out := make([]experiments.Trial, len(c.Experiments))
	for i, x := range c.Experiments {
		out[i] = x.Trial
	}
	return out
}

// Arm returns the configuration of an arm, "EXPERIMENT/ARM"; nil if it does not exist.
func (c *Config) Arm(name string) *Config {
	experiment, arm, _ := strings.Cut(name, "/")
	for _, x := range c.Experiments {
		if x.Name == experiment {
			return x.Configs[arm]
		}
	}
	return nil
}

// Values of experiments are stored like values of keys, under names that no key has:
// experiments/NAME/share, experiments/NAME/ARM/, experiments/NAME/ARM/weight and
// experiments/NAME/ARM/KEY.
const experimentPrefix = "experiments/"

// LeftAlone is the value of an arm, see [ExperimentKey], for conversations that precis only
// observes.
const LeftAlone = "off"

// ExperimentKey returns the key of a [Change] to an experiment. Without parts it selects the whole
// experiment, which can be removed; "share" selects its share; an arm and "" select the arm, which
// can be [LeftAlone] or removed; an arm and another part select its "weight", or any key that arms
// may set. Names contain no slash.
func ExperimentKey(name string, parts ...string) string {
	return experimentPrefix + name + "/" + strings.Join(parts, "/")
}

// pathOfExperiment returns the path of an experiment's value in a file.
func pathOfExperiment(rest string) (path []string, isList bool, err error) {
	parts := strings.SplitN(rest, "/", 3)
	if len(parts) < 2 || parts[0] == "" || len(parts) == 2 && parts[1] != "" && parts[1] != "share" ||
		len(parts) == 3 && parts[1] == "" {
		return nil, false, fmt.Errorf("%s%.60s: unknown key", experimentPrefix, rest)
	}
	path = []string{strings.TrimSuffix(experimentPrefix, "/"), parts[0]}
	switch {
	case len(parts) == 2 && parts[1] == "":
		return path, false, nil
	case len(parts) == 2:
		return append(path, parts[1]), false, nil
	}
	path = append(path, "arms", parts[1])
	switch key := parts[2]; key {
	case "":
		return path, false, nil
	case "weight":
		return append(path, key), false, nil
	default:
		own, isList, err := pathOf(key)
		return append(path, own...), isList, err
	}
}

// errArm is the cause of the error for a key that must not differ between arms.
var errArm = errors.New("an arm of an experiment must not set this")

// ofArms reports whether arms may differ in a key: keys of how a conversation is handled, and of
// what writes its summaries. Spending limits, and keys for all conversations of a gateway, apply to
// all arms.
func ofArms(name string) bool {
	for _, prefix := range []string{"gateway.", "sessions.", "hooks.", "spend."} {
		if strings.HasPrefix(name, prefix) {
			return false
		}
	}
	return !slices.Contains([]string{"estimate", "window", "memory_mb", "models_file", "summarizer.cache"},
		name)
}

// experiments reads the mapping of experiments by name.
func (r yamlReader) experiments(n ast.Node) error {
	if r.folder {
		return &strictyaml.Error{Line: strictyaml.Line(n), Key: "experiments", Err: ErrRefused}
	}
	return eachNamed(n, "experiments by name", func(name string, v ast.Node) error {
		prefix, arms := experimentPrefix+name+"/", false
		err := strictyaml.Each(v, strictyaml.Fields{
			"share": func(n ast.Node) error {
				var share *float64
				if err := strictyaml.Amount(&share)(n); err != nil {
					return err
				}
				r.put(prefix+"share", n, formatNumber(*share))
				return nil
			},
			"arms": func(n ast.Node) error {
				arms = true
				if m, ok := n.(ast.MapNode); ok && !m.MapRange().Next() {
					return strictyaml.Wrong(n, "there is no arm")
				}
				return eachNamed(n, "arms by name",
					func(arm string, v ast.Node) error { return r.arm(prefix+arm+"/", v) })
			},
		})
		if err == nil && !arms {
			err = strictyaml.Wrong(v, "%q has no arms", name)
		}
		return err
	})
}

// arm reads the values of an arm: keys that differ from the rest of the file, or the word off.
func (r yamlReader) arm(prefix string, n ast.Node) error {
	r.put(prefix, n, "")
	if s, ok := n.(*ast.StringNode); ok && s.Value == LeftAlone {
		r.put(prefix, n, LeftAlone)
		return nil
	}
	own := r
	own.prefix = prefix
	table := own.fields("")
	delete(table, "experiments")
	table["weight"] = func(n ast.Node) error {
		var weight *int
		if err := strictyaml.Count(&weight)(n); err != nil {
			return err
		}
		own.put("weight", n, strconv.Itoa(*weight))
		return nil
	}
	return strictyaml.Each(n, table)
}

// eachNamed visits a mapping with keys of the user's choice.
func eachNamed(n ast.Node, what string, visit func(name string, v ast.Node) error) error {
	m, ok := n.(ast.MapNode)
	if !ok {
		return strictyaml.WrongType("a mapping of "+what, n)
	}
	for it := m.MapRange(); it.Next(); {
		name := scalarText(it.Key())
		if name == "" || strings.Contains(name, "/") {
			return strictyaml.Wrong(it.Key(), "the name %.40q is empty or holds a slash", name)
		}
		if err := visit(name, it.Value()); err != nil {
			return err
		}
	}
	return nil
}

// experiments makes the experiments from values: the configuration of an arm consists of all values
// with its own ones merged over them.
func (l layers) experiments(values map[string]value) ([]Experiment, error) {
	byName := map[string]*Experiment{}
	own := map[string]map[string]value{} // by experiment and arm
	base := map[string]value{}
	var first value
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v := values[name]
		rest, ok := strings.CutPrefix(name, experimentPrefix)
		if !ok {
			base[name] = v
			continue
		}
		if first.origin == "" {
			first = v
		}
		experiment, rest, _ := strings.Cut(rest, "/")
		x := byName[experiment]
		if x == nil {
			x = &Experiment{Trial: experiments.Trial{Name: experiment, Share: 100},
				Configs: map[string]*Config{}, Own: map[string]map[string]string{}}
			byName[experiment] = x
		}
		arm, key, ofArm := strings.Cut(rest, "/")
		switch {
		case !ofArm:
			x.Share, _ = parseNumber(v.text)
		case key == "":
			x.Arms = append(x.Arms, experiments.Arm{Name: arm})
			own[experiment+"/"+arm] = observedArmValues(v)
			if x.Own[arm] = nil; v.text != LeftAlone {
				x.Own[arm] = map[string]string{}
			}
		case key == "weight":
			x.Arms[len(x.Arms)-1].Weight, _ = strconv.Atoi(v.text)
		default:
			own[experiment+"/"+arm][key], x.Own[arm][key] = v, v.text
		}
	}
	var out []Experiment
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		x := byName[name]
		for _, a := range x.Arms {
			all := maps.Clone(base)
			maps.Copy(all, own[name+"/"+a.Name])
			var err error
			if x.Configs[a.Name], err = l.configFor(all); err != nil {
				return nil, err
			}
		}
		out = append(out, *x)
	}
	if err := experiments.CheckTrials(trialsOf(out)); err != nil {
		return nil, place(first, "experiments", err)
	}
	return out, nil
}

func trialsOf(all []Experiment) []experiments.Trial { return (&Config{Experiments: all}).Trials() }

// observedArmValues returns the base values of an arm: for one that is left alone, values that switch precis
// off regardless of the rest of the file; else none.
func observedArmValues(v value) map[string]value {
	if v.text != LeftAlone {
		return map[string]value{}
	}
	out := map[string]value{}
	for key, text := range map[string]string{"preset": preset.Off, "auto_condense": "false", "warn": "0",
		"prepare": "0"} {
		out[key] = value{text: text, origin: v.origin, file: v.file}
	}
	return out
}

// experimentRows describes the experiments for display.
func (c *Config) experimentRows() []Row {
	var rows []Row
	for _, x := range c.Experiments {
		var arms []string
		for _, a := range x.Arms {
			text := a.Name
			if x.Configs[a.Name].Settings.Observe {
				text += " (left alone)"
			}
			if a.Weight > 1 {
				text += fmt.Sprintf(" ×%d", a.Weight)
			}
			arms = append(arms, text)
		}
		rows = append(rows, Row{Key: "experiments." + x.Name,
			Value: fmt.Sprintf("%g %%: %s", x.Share, strings.Join(arms, ", ")), Origin: c.File,
			Help: "share of the gateway's conversations that take part, and the arms that they are assigned to"})
	}
	return rows
}
