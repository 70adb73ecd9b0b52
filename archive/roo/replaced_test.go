package roo_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive/roo"
)

// run records edits of one run; with names of earlier edits it takes these back first.
func run(t *testing.T, dir, name string, back []string, edits ...precis.Edit) {
	t.Helper()
	task := open(t, dir)
	for i := range edits {
		edits[i].Run = name
	}
	undo := precis.Edit{ID: "back-" + name, Run: name, Kind: precis.KindUndo, Time: edits[0].Time, Undoes: back}
	undo.Seen, undo.At = task.Conversation.Transcript.Len(), task.Conversation.Transcript.Fingerprint(task.Conversation.Transcript.Len())
	for i := range edits {
		edits[i].Seen, edits[i].At = undo.Seen, undo.At
	}
	var err error
	if back == nil {
		err = task.Record(t.Context(), edits, edits[0].Time)
	} else {
		err = task.Replace(t.Context(), undo, edits, edits[0].Time)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// at gives an edit a time.
func at(ms int64, e precis.Edit) precis.Edit {
	e.Time = time.UnixMilli(ms).UTC()
	return e
}

func shown(t *testing.T, dir string) []string {
	t.Helper()
	task := open(t, dir)
	if len(task.Warnings) > 0 {
		t.Errorf("warnings: %v", task.Warnings)
	}
	return texts(precis.View(task.Conversation.Transcript, task.Conversation.Edits))
}

// What a run took back comes again when the run is undone, through any number of runs, as
// tags and in the sidecar.
func TestWhatARunReplacedComesAgain(t *testing.T) {
	dir := folder(t)
	pin := both(t, dir)[1]
	run(t, dir, "one", nil, at(5000, truncation("A", 1, 3)), at(5000, pin))
	views := [][]string{shown(t, dir)}
	run(t, dir, "two", []string{"A", "P"}, at(6000, truncation("B", 1, 7)))
	views = append(views, shown(t, dir))
	run(t, dir, "three", []string{"B"}, at(7000, truncation("C", 1, 9)))

	ids := func() (all, active []string) {
		edits := open(t, dir).Conversation.Edits
		for _, e := range edits {
			all = append(all, e.ID)
		}
		for _, e := range precis.Active(edits) {
			active = append(active, e.ID)
		}
		return all, active
	}
	all, active := ids()
	if !slices.Equal(active, []string{"C"}) || !slices.Equal(all, []string{"A", "P", "back-two", "B", "back-three", "C"}) {
		t.Fatalf("of %v are in force %v", all, active)
	}
	for _, want := range slices.Backward(views) {
		task := open(t, dir)
		if err := task.Undo(t.Context(), precis.LastRun(task.Conversation.Edits)...); err != nil {
			t.Fatal(err)
		}
		if got := shown(t, dir); !slices.Equal(got, want) {
			t.Errorf("shows %d messages, not %d", len(got), len(want))
		}
	}
	if all, active = ids(); !slices.Equal(active, []string{"A", "P"}) || len(all) != 2 {
		t.Errorf("of %v are in force %v", all, active)
	}
	task := open(t, dir)
	e := task.Conversation.Edits[0]
	if e.Run != "one" || e.Report.TokensBefore != 900 {
		t.Errorf("it came again as %+v", e)
	}
}

// A run that is taken back in all its parts, without the edit that replaced earlier ones,
// brings nothing again, and leaves nothing behind.
func TestAllIsTakenBackAtOnce(t *testing.T) {
	dir := folder(t)
	before := contents(t, dir)
	run(t, dir, "one", nil, at(5000, truncation("A", 1, 3)))
	run(t, dir, "two", []string{"A"}, at(6000, truncation("B", 1, 7)))
	if err := open(t, dir).Undo(t.Context(), "B"); err != nil {
		t.Fatal(err)
	}
	after := contents(t, dir)
	for _, name := range []string{roo.HistoryName, roo.UIName, roo.SidecarName} {
		if after["/"+name] != before["/"+name] {
			t.Errorf("%s is not as it was: %.300s", name, after["/"+name])
		}
	}
}

// A rewind behind the run that replaced others has the others in force, where their
// messages are left.
func TestARewindBringsWhatWasReplaced(t *testing.T) {
	for n, want := range map[int]string{10: "P", 4: "P", 2: ""} {
		dir := folder(t)
		task := open(t, dir)
		first := at(1000, both(t, dir)[1])
		first.Run, first.Seen, first.At = "one", 4, task.Conversation.Transcript.Fingerprint(4)
		if err := task.Record(t.Context(), []precis.Edit{first}, first.Time); err != nil {
			t.Fatal(err)
		}
		run(t, dir, "two", []string{"P"}, at(6000, truncation("B", 1, 7)))
		if err := open(t, dir).RewindToMessage(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range open(t, dir).Conversation.Edits {
			names = append(names, e.ID)
		}
		if strings.Join(names, " ") != want {
			t.Errorf("rewound to message %d: %v, not %q", n, names, want)
		}
	}
}

// What does not fit the messages is left out with a warning, and the rest is read.
func TestADamagedReplacementIsLeftOut(t *testing.T) {
	dir := folder(t)
	run(t, dir, "one", nil, at(5000, truncation("A", 1, 3)))
	run(t, dir, "two", []string{"A"}, at(6000, truncation("B", 1, 7)))
	path := filepath.Join(dir, roo.SidecarName)
	var side map[string]any
	if err := json.Unmarshal([]byte(contents(t, dir)["/"+roo.SidecarName]), &side); err != nil {
		t.Fatal(err)
	}
	was := side["replaced"].([]any)[0].(map[string]any)["edits"].([]any)[0].(map[string]any)
	was["replace"].([]any)[0].(map[string]any)["to"] = 99
	data, err := json.Marshal(side)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(data))
	task := open(t, dir)
	if len(task.Warnings) != 1 || len(task.Conversation.Edits) != 1 || task.Conversation.Edits[0].ID != "B" {
		t.Errorf("%v, warnings %v", task.Conversation.Edits, task.Warnings)
	}
}
