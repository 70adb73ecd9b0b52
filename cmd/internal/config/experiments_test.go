package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/internal/experiments"
)

const compared = `threshold: 70   # for all but sixty
auto_condense: true
keep: {messages: 5}
profiles: {m: 30}
experiments:
  early:
    share: 50   # percent
    arms:
      control: {}
      sixty: {weight: 2, threshold: 60, keep: {messages: 9}, profiles: {n: 40}}
      alone: off
  writer:
    share: 25
    arms:
      brief:
        summarizer:
          template: brief
        rungs: [condense, truncate, clip]
`

func TestExperimentsAreArmsOverTheRest(t *testing.T) {
	c, err := load(t, compared, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Experiments) != 2 || c.Experiments[0].Name != "early" || c.Experiments[0].Share != 50 || c.Experiments[1].Share != 25 {
		t.Fatalf("%+v", c.Trials())
	}
	if got := c.Experiments[0].Arms; len(got) != 3 || got[0].Name != "alone" || got[2] != (experiments.Arm{Name: "sixty", Weight: 2}) {
		t.Errorf("%+v", got)
	}
	control, sixty, alone, brief := c.Arm("early/control"), c.Arm("early/sixty"), c.Arm("early/alone"), c.Arm("writer/brief")
	if len(control.Changes(c.Settings)) > 0 {
		t.Errorf("the control differs: %+v", control.Changes(c.Settings))
	}
	if s := sixty.Settings; s.Percent != 60 || s.KeepMessages != 9 || s.Profiles["m"] != 30 || s.Profiles["n"] != 40 {
		t.Errorf("%+v", s)
	}
	if s := alone.Settings; !s.Observe || s.Auto || s.Warn != 0 || s.Prepare != 0 {
		t.Errorf("what is left alone has %+v", s)
	}
	if brief.Summarizer.Template != "brief" || len(brief.Settings.Rungs) != 3 || brief.Settings.Percent != 70 {
		t.Errorf("%+v", brief)
	}
	if c.Settings.Percent != 70 || c.Summarizer.Template != "" || len(c.Settings.Profiles) != 1 || c.Arm("early/none") != nil || c.Arm("none/x") != nil || c.Arm("") != nil {
		t.Errorf("%+v", c.Settings)
	}
	rows := c.Rows()
	if r := rows[len(rows)-2]; r.Key != "experiments.early" || r.Value != "50 %: alone (left alone), control, sixty ×2" {
		t.Errorf("%+v", r)
	}
	// A preset of one command is that of every arm that names none.
	if c, err = load(t, compared, nil, map[string]string{"preset": "frugal", "threshold": "55"}); err != nil || c.Arm("early/control").Settings.Percent != 55 || c.Arm("early/sixty").Settings.Percent != 60 || c.Arm("early/sixty").Settings.Preset != "frugal" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestExperimentsThatAreWrong(t *testing.T) {
	for yaml, want := range map[string]string{
		"experiments: 3\n":                                                   "want a mapping of experiments",
		"experiments:\n  a/b: {arms: {x: {}}}\n":                             `p.yaml:2: experiments: the name "a/b"`,
		"experiments:\n  a:\n    arms:\n      x/y: {}\n":                     `p.yaml:4: arms: the name "x/y"`,
		"experiments: {a: {share: 5}}\n":                                     "no arm",
		"experiments: {a: {}}\n":                                             "no arms",
		"experiments: {a: {arms: {}}}\n":                                     "no arm",
		"experiments: {a: {share: 0, arms: {x: {}}}}\n":                      "share",
		"experiments: {a: {share: 60, arms: {x: {}}}, b: {arms: {x: {}}}}\n": "together",
		"experiments: {a: {arms: {x: on}}}\n":                                "want a mapping",
		"experiments: {a: {arms: {x: {weight: 0}}}}\n":                       "must be positive",
		"experiments: {a: {arms: {x: {weight: 9000000}}}}\n":                 "weight",
		"experiments: {a: {arms: {x: {\n  threshold: high}}}}\n":             "p.yaml:2: threshold",
		"experiments: {a: {arms: {x: {tresh: 1}}}}\n":                        "unknown key",
		"experiments: {a: {arms: {x: {experiments: {}}}}}\n":                 "unknown key",
		"experiments: {a: {arms: {x: {warn: 900}}}}\n":                       "warn",
		"experiments: {a: {arms: {x: {gateway: {listen: a}}}}}\n":            "an arm of an experiment must not",
		"experiments: {a: {arms: {x: {spend: {day: 9}}}}}\n":                 "an arm of an experiment must not",
		"experiments: {a: {arms: {x: {hooks: {before: a}}}}}\n":              "an arm of an experiment must not",
	} {
		if _, err := load(t, yaml, nil, nil); precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", yaml, err, want)
		}
	}
	folder := filepath.Join(t.TempDir(), "precis.yaml")
	if err := os.WriteFile(folder, []byte("experiments: {a: {arms: {x: {threshold: 10}}}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(config.Sources{Folder: folder}); !errors.Is(err, config.ErrRefused) {
		t.Errorf("a file of the current folder: %v", err)
	}
}

// A change of another value leaves experiments as they are.
func TestSaveKeepsExperiments(t *testing.T) {
	path := written(t, compared)
	c, err := config.Load(config.Sources{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	now, err := c.Save(t.Context(), config.Change{Key: "threshold", Value: "65"}, config.Change{Key: "target", Value: "40"})
	if err != nil || len(now.Experiments) != 2 || now.Arm("early/control").Settings.Percent != 65 {
		t.Fatalf("%+v, %v", now, err)
	}
	want := strings.Replace(compared, "threshold: 70 ", "threshold: 65 ", 1) + "target: 40\n"
	if got := read(t, path); got != want {
		t.Errorf("%s", got)
	}
}

// Experiments are changed in the file as single values are, and nothing else of it is.
func TestExperimentsAreSaved(t *testing.T) {
	key := config.ExperimentKey
	set := func(value, name string, parts ...string) config.Change {
		return config.Change{Key: key(name, parts...), Value: value}
	}
	remove := func(name string, parts ...string) config.Change {
		return config.Change{Key: key(name, parts...), Remove: true}
	}
	for name, tt := range map[string]struct {
		in, want string
		changes  []config.Change
	}{
		"a new one": {"threshold: 70 # agreed\n", "threshold: 70 # agreed\nexperiments:\n  early:\n    share: 50\n    arms:\n      control:\n        weight: 1\n      sixty:\n        threshold: 60\n      alone: off\n",
			[]config.Change{set("50", "early", "share"), set("1", "early", "control", "weight"), set("60", "early", "sixty", "threshold"), set("off", "early", "alone", "")}},
		"an arm is added": {"experiments:\n  early: # mine\n    arms:\n      control: {} # as it is\n", "experiments:\n  early: # mine\n    arms:\n      control: {} # as it is\n      b.c:\n        keep:\n          messages: 9\n",
			[]config.Change{set("9", "early", "b.c", "keep.messages")}},
		"values of an arm": {compared, strings.NewReplacer("weight: 2, threshold: 60,", "weight: 3,", "share: 50   #", "share: 40   #").Replace(compared),
			[]config.Change{set("40", "early", "share"), set("3", "early", "sixty", "weight"), remove("early", "sixty", "threshold")}},
		"an arm is left alone": {"experiments: {x: {arms: {a: {}, b: {threshold: 60}}}}\n", "experiments: {x: {arms: {a: {}, b: off}}}\n",
			[]config.Change{remove("x", "b", ""), set("off", "x", "b", "")}},
		"and no longer": {"experiments: {x: {arms: {a: {}, b: off}}}\n", "experiments: {x: {arms: {a: {}, b: {target: 30}}}}\n",
			[]config.Change{remove("x", "b", ""), set("30", "x", "b", "target")}},
		"an arm goes":        {compared, strings.Replace(compared, "      alone: off\n", "", 1), []config.Change{remove("early", "alone", "")}},
		"an experiment goes": {compared, compared[:strings.Index(compared, "  writer:")], []config.Change{remove("writer")}},
		"the last one goes":  {"threshold: 70\nexperiments:\n  x:\n    arms:\n      a: {}\n", "threshold: 70\nexperiments: {}\n", []config.Change{remove("x")}},
		"arms called share": {"experiments: {x: {share: 20, arms: {share: {}, weight: {}, a: {}}}}\n", "experiments: {x: {share: 20, arms: {a: {}, weight: off}}}\n",
			[]config.Change{remove("x", "share", ""), remove("x", "weight", ""), set("off", "x", "weight", "")}},
		"one called share": {"experiments: {share: {arms: {a: {}}}}\n", "experiments: {share: {arms: {a: {}}, share: 20}}\n", []config.Change{set("20", "share", "share")}},
	} {
		path := written(t, tt.in)
		c, err := config.Load(config.Sources{Path: path})
		if err == nil {
			_, err = c.Save(t.Context(), tt.changes...)
		}
		if got := read(t, path); err != nil || got != tt.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, tt.want)
		}
	}
	for want, changes := range map[string][]config.Change{
		"unknown key":                     {set("x", "early", "sixty", "treshold")},
		"must not set this":               {set("x", "early", "sixty", "gateway.store")},
		"the share of":                    {set("0", "early", "share")},
		"percent together":                {set("90", "early", "share")},
		"no arms":                         {set("5", "new", "share")},
		"no arm":                          {remove("writer", "brief", "")},
		"is no number":                    {set("much", "early", "sixty", "threshold")},
		"want a whole number":             {set("many", "early", "sixty", "weight")},
		"share: unknown key":              {set("5", "a/b", "share")},
		"experiments//share: unknown key": {set("5", "", "share")},
		"cannot be changed al":            {set("60", "early", "alone", "threshold")},
	} {
		path := written(t, compared)
		c, err := config.Load(config.Sources{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Save(t.Context(), changes...); err == nil || !strings.Contains(err.Error(), want) || read(t, path) != compared {
			t.Errorf("%+v: %v, want %q", changes, err, want)
		}
	}
	c, err := load(t, compared, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if own := c.Experiments[0].Own; len(own) != 3 || own["alone"] != nil || own["control"] == nil || len(own["sixty"]) != 3 || own["sixty"]["threshold"] != "60" || own["sixty"]["profiles.n"] != "40" {
		t.Errorf("own values %v", own)
	}
}
