package retain

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"

	"pgregory.net/rapid"
)

func TestShippedWeightsAreComplete(t *testing.T) {
	var w Weights
	d := json.NewDecoder(strings.NewReader(string(weightsJSON)))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		names []string
		has   map[string]float64
	}{"weights": {FeatureNames(), w.Weights}, "lines": {LineFeatureNames(), w.Lines}} {
		for _, n := range tt.names {
			v, ok := tt.has[n]
			if !ok || math.IsNaN(v) || math.Abs(v) > 20 {
				t.Errorf("%s: %s has the weight %v, %v", name, n, v, ok)
			}
		}
		for n := range tt.has {
			if !slices.Contains(tt.names, n) {
				t.Errorf("%s: %s is no feature", name, n)
			}
		}
		if sorted := slices.Sorted(slices.Values(tt.names)); len(slices.Compact(sorted)) != len(tt.names) {
			t.Errorf("%s: two features of one name", name)
		}
	}
	for _, word := range []string{"conversations", "regression", "cuts", "ridge"} {
		if !strings.Contains(w.Run, word) {
			t.Errorf("Run does not speak of %s: %q", word, w.Run)
		}
	}
	if !slices.IsSorted(w.Common) || len(slices.Compact(slices.Clone(w.Common))) != len(w.Common) || len(w.Common) == 0 {
		t.Error("the common names are not a sorted list")
	}
}

// The names of features follow the order in which they are filled in.
func TestFeaturesStandUnderTheirNames(t *testing.T) {
	msgs := everySource()
	x := Read("", msgs)
	for f := range x.Facts {
		got := map[string]float64{}
		for i, v := range x.Features(f) {
			got[featureNames[i]] = v
		}
		fact := x.Facts[f]
		is := func(b bool) float64 {
			if b {
				return 1
			}
			return 0
		}
		want := map[string]float64{
			"one": 1, "messages": math.Log1p(float64(fact.Messages)), "said_in": math.Log1p(float64(fact.SaidIn)), "ever_said": is(fact.SaidIn > 0),
			"by_user": is(strings.Contains(sourcesOf(fact), "user")), "edited": is(fact.Edited), "in_edited": is(fact.InEdited), "in_error": is(fact.InError),
			"in_written": is(strings.Contains(sourcesOf(fact), "written")), "in_called": is(strings.Contains(sourcesOf(fact), "called")),
			"read_only": is(sourcesOf(fact) == "read"), "once": is(fact.Messages == 1), "last_in_last": is(int(fact.Last) >= len(msgs)-2),
			"age": math.Log1p(float64(len(msgs)-1-int(fact.Last))) / 5, "span": math.Log1p(float64(fact.Last-fact.First)) / 5,
		}
		for s := range sources {
			want["last_"+s.String()] = is(fact.LastSource == s)
		}
		for k := range kinds {
			want[k.String()] = is(fact.Kind == k)
		}
		for n, v := range want {
			if g, ok := got[n]; !ok || g != v {
				t.Errorf("%s: %s is %v, want %v", fact.Name, n, g, v)
			}
		}
	}
}

func TestNamesAreCopies(t *testing.T) {
	FeatureNames()[0], LineFeatureNames()[0] = "changed", "changed"
	if featureNames[0] != "one" || lineFeatures[0] != "one" {
		t.Error("a caller can change the names")
	}
}

func TestWorthsLieBetween0And1(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := Read("parseIt", someConversation(t))
		worth := x.Worths()
		if len(worth) != len(x.Facts) {
			t.Fatalf("%d worths of %d facts", len(worth), len(x.Facts))
		}
		r := x.NewReusePredictor(worth)
		for f, w := range worth {
			if system := x.system[f]; !(w >= 0 && w <= 1) || system != (w == 0) {
				t.Fatalf("%+v: %v, in the system prompt %v", x.Facts[f], w, system)
			}
		}
		for i := range x.Texts {
			end := len(x.Texts[i].Body)
			for _, v := range r.Features(i, 0, end) {
				if math.IsNaN(v) || v < 0 || v > 20 {
					t.Fatalf("text %d: %v", i, r.Features(i, 0, end))
				}
			}
			if s, w := r.Share(i, 0, end), r.Worth(i, 0, end); !(s > 0 && s < 1) || !(w >= 0) || math.IsInf(w, 0) {
				t.Fatalf("text %d: share %v, worth %v", i, s, w)
			}
		}
	})
}

// worthOf returns the worth of a name.
func worthOf(t *testing.T, x *Index, name string) float64 {
	t.Helper()
	worth := x.Worths()
	for f := range x.Facts {
		if x.Facts[f].Name == name {
			return worth[f]
		}
	}
	t.Fatalf("%s is no fact", name)
	return 0
}

// What must hold whatever weights are learned.
func TestWhatOutranksWhat(t *testing.T) {
	filler := strings.Repeat("words that say nothing in particular. ", 200)
	var msgs []precis.Message
	msgs = append(msgs,
		precis.NewText("user", "please fix user_wish now"),
		use("0", "Read", map[string]any{"path": "src/old_seen.go"}),
		result("0", "old_once in a file, and common_pair", false),
		use("1", "Edit", map[string]any{"path": "src/old_edit.go", "new_string": "x"}),
		result("1", "ok", false),
		precis.NewText("assistant", "old_said here"),
	)
	for i := 2; i < 30; i++ {
		msgs = append(msgs, use(fmt.Sprint(i), "Bash", map[string]any{"command": "true"}), result(fmt.Sprint(i), filler, false))
	}
	msgs = append(msgs,
		precis.NewText("user", "and new_wish"),
		use("98", "Read", map[string]any{"path": "src/new_seen.go"}), result("98", "new_once in it", false),
		use("99", "Edit", map[string]any{"path": "src/new_edit.go", "new_string": "def new_body"}), result("99", "ok", false),
		precis.NewText("assistant", "now new_said is right, and new_said is done"),
	)
	x := Read("", msgs)
	for _, pair := range [][2]string{
		{"new_said", "old_once"}, {"new_said", "old_said"}, {"src/new_edit.go", "src/old_edit.go"}, {"src/new_edit.go", "src/old_seen.go"},
		{"src/old_edit.go", "src/old_seen.go"}, {"new_once", "old_once"}, {"user_wish", "old_once"}, {"new_wish", "user_wish"}, {"new_body", "old_once"},
		{"src/new_edit.go", "src/new_seen.go"}, {"old_said", "old_once"},
	} {
		a, b := worthOf(t, x, pair[0]), worthOf(t, x, pair[1])
		if a <= b {
			t.Errorf("%s is worth %.4f, %s %.4f", pair[0], a, pair[1], b)
		}
	}
}

func TestReuserKnowsHowFilesFared(t *testing.T) {
	body := "return handler(writer, request)\n"
	msgs := []precis.Message{
		use("1", "Read", map[string]any{"path": "src/twice.go"}), result("1", body, false),
		use("2", "Read", map[string]any{"path": "src/once.go"}), result("2", body, false),
		use("3", "Bash", map[string]any{"command": "go test"}), result("3", body, false),
		use("4", "Edit", map[string]any{"path": "src/twice.go", "new_string": body}), result("4", "ok", false),
		use("5", "Bash", map[string]any{"command": "go test"}), result("5", body, false),
		precis.NewText("assistant", body),
	}
	x := Read("", msgs)
	r := x.NewReusePredictor(x.Worths())
	features := map[precis.Handle]map[string]float64{}
	for i := range x.Texts {
		m := map[string]float64{}
		for k, v := range r.Features(i, 0, len(x.Texts[i].Body)) {
			m[lineFeatures[k]] = v
		}
		features[x.Texts[i].Handle] = m
	}
	for _, tt := range []struct {
		message int
		name    string
		want    float64
	}{
		{1, "has_path", 1}, {1, "path_edited", 1}, {1, "superseded", 1}, {1, "read", 1}, {1, "repeated", 0},
		{3, "has_path", 1}, {3, "path_edited", 0}, {3, "superseded", 0}, {3, "read", 1},
		{5, "has_path", 0}, {5, "repeated", 1}, {5, "output", 1}, {9, "repeated", 1},
		{10, "said", 1}, {10, "age", 0}, {10, "has_path", 0}, {10, "length", float64(len(body)) / 100},
	} {
		if got := features[precis.BlockHandle(tt.message, 0)][tt.name]; got != tt.want {
			t.Errorf("message %d: %s is %v, want %v", tt.message, tt.name, got, tt.want)
		}
	}
	last := len(x.Texts) - 1
	if r.Share(last, 0, len(body)) <= r.Share(1, 0, 10) {
		t.Error("the assistant's last words are repeated less than an old file")
	}
}

func TestRepetitionsTogetherAreWorthTheFacts(t *testing.T) {
	x := Read("", large(200_000))
	worth := x.Worths()
	r := x.NewReusePredictor(worth)
	facts, repeats := 0.0, 0.0
	for _, w := range worth {
		facts += w
	}
	for i := range x.Texts {
		for at, body := 0, x.Texts[i].Body; at < len(body); at += 100 {
			repeats += r.Worth(i, at, min(at+100, len(body)))
		}
	}
	if ratio := repeats / facts; ratio < 0.5 || ratio > 2 {
		t.Errorf("repetitions are worth %.2f, facts %.2f", repeats, facts)
	}
}

func TestAnEmptyConversation(t *testing.T) {
	x := Read("system_prompt", nil)
	if w := x.Worths(); len(w) != 0 || len(x.Texts) != 0 || len(x.Facts) != 0 {
		t.Error("nothing holds something")
	}
	x.NewReusePredictor(nil)
	if got := x.Choose(nil, nil, x.NewCoverage(), 10); len(got) != 0 {
		t.Error("chosen from nothing")
	}
}
