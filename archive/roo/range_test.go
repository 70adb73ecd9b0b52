package roo_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive/roo"
)

// items are the list of tasks of Cline around an item of task 1 with the given members, in a layout that is not
// the one that Cline writes.
func items(members string) string {
	return "[ {\"id\":\"0\", \"task\":\"another\",\"conversationHistoryDeletedRange\": [2,  9]},\n\t{\"id\" : \"1\",\"ts\":7000, \"task\":\"a } ] \\\"task\\\"\"" + members +
		" }, {\"id\":\"2\",\"task\":\"id 1 is \\\"1\\\"\"},{\"id\":\"1\",\"task\":\"a copy\"} ]\n"
}

// listed is [clineTask] with a list of tasks beside it.
func listed(t *testing.T, list string, ranges ...string) (dir, state string) {
	t.Helper()
	dir = clineTask(t, ranges...)
	state = filepath.Join(dir, "..", "..", "state", roo.StateName)
	if err := os.MkdirAll(filepath.Dir(state), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, state, list)
	return dir, state
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// bare is an edit that hides messages and says nothing.
func bare(t *testing.T, dir, id string, from, to int) precis.Edit {
	t.Helper()
	e := precis.Edit{ID: id, Kind: precis.KindTruncation, Replace: []precis.Replacement{{From: from, To: to}}, Report: precis.EditReport{Reason: "because"}}
	if err := e.Identify(open(t, dir).Conversation.Transcript); err != nil {
		t.Fatal(err)
	}
	return e
}

func hide(t *testing.T, dir, id string, to int) {
	t.Helper()
	if err := open(t, dir).Record(t.Context(), []precis.Edit{bare(t, dir, id, 2, to)}, time.UnixMilli(9000)); err != nil {
		t.Fatal(err)
	}
}

func shownOf(t *testing.T, dir string) string {
	t.Helper()
	var shown strings.Builder
	conv := open(t, dir).Conversation
	for _, m := range precis.View(conv.Transcript, conv.Edits) {
		shown.WriteString(strings.TrimPrefix(m.PlainText(), "message "))
	}
	return shown.String()
}

// Only the range of the task's item changes; it is read again, and undone byte for byte.
func TestARangeIsWrittenForCline(t *testing.T) {
	for _, tt := range []struct{ was, now, before string }{
		{"", `,"conversationHistoryDeletedRange":[2,5]`, "01234567"},
		{`,"conversationHistoryDeletedRange":  null, "size":1`, `,"conversationHistoryDeletedRange":  [2,5], "size":1`, "01234567"},
		{`,"conversationHistoryDeletedRange":[ 2, 3 ]`, `,"conversationHistoryDeletedRange":[2,5]`, "014567"},
		{`,"conversationHistoryDeletedRange":"x"`, `,"conversationHistoryDeletedRange":[2,5]`, "01234567"},
	} {
		dir, state := listed(t, items(tt.was))
		before, shown := contents(t, filepath.Dir(filepath.Dir(dir))), shownOf(t, dir)
		if shown != tt.before {
			t.Errorf("%q: %s is shown", tt.was, shown)
		}
		hide(t, dir, "E", 6)
		if now := read(t, state); now != items(tt.now) {
			t.Errorf("%q: written is\n%s, want\n%s", tt.was, now, items(tt.now))
		}
		if shown := shownOf(t, dir); shown != "0167" {
			t.Errorf("%q: %s is shown afterwards", tt.was, shown)
		}
		task := open(t, dir)
		last := task.Conversation.Edits[len(task.Conversation.Edits)-1]
		if last.ID != "E" || last.Report.Reason != "because" || !task.Ranged(last) || len(task.Warnings) > 0 {
			t.Errorf("%q: read again is %+v, %v", tt.was, last, task.Warnings)
		}
		if err := task.Undo(t.Context(), "E"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, contents(t, filepath.Dir(filepath.Dir(dir)))); diff != "" {
			t.Errorf("%q: undone, and changed:\n%s", tt.was, diff)
		}
		if shown := shownOf(t, dir); shown != tt.before {
			t.Errorf("%q: undone, and %s is shown", tt.was, shown)
		}
	}
}

// The item of the task counts, not what the messages of the UI have noted.
func TestTheItemOfATaskCounts(t *testing.T) {
	for _, tt := range []struct{ item, shown string }{
		{`,"conversationHistoryDeletedRange":[2,5]`, "0167"},
		{"", "01234567"},
	} {
		dir, _ := listed(t, items(tt.item), "[2,3]")
		if shown := shownOf(t, dir); shown != tt.shown {
			t.Errorf("%q: %s is shown, want %s", tt.item, shown, tt.shown)
		}
	}
	dir, _ := listed(t, items(`,"conversationHistoryDeletedRange":[2,5]`))
	if e := open(t, dir).Conversation.Edits[0]; e.Time.UnixMilli() != 7000 || e.Report.Trigger != string(precis.TriggeredRecorded) {
		t.Errorf("%+v", e)
	}
}

// Several edits make one range, the longest; each can be taken back.
func TestRangesOfSeveralEdits(t *testing.T) {
	for _, first := range []string{"A", "B"} {
		dir, state := listed(t, items(""))
		hide(t, dir, "A", 4)
		hide(t, dir, "B", 6)
		if !strings.Contains(read(t, state), "[2,5]") {
			t.Errorf("the longer range is not written: %s", read(t, state))
		}
		if err := open(t, dir).Undo(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		if want := map[string]string{"A": "[2,5]", "B": "[2,3]"}[first]; !strings.Contains(read(t, state), want) {
			t.Errorf("%s is undone, want %s: %s", first, want, read(t, state))
		}
		if err := open(t, dir).Undo(t.Context(), map[string]string{"A": "B", "B": "A"}[first]); err != nil || read(t, state) != items("") {
			t.Errorf("both are undone: %v, %s", err, read(t, state))
		}
	}
}

// What the editor has written since stays: other items, and another range of the task.
func TestClineGoesOnAfterARange(t *testing.T) {
	dir, state := listed(t, items(""))
	hide(t, dir, "E", 6)
	task := open(t, dir)
	anew := `[{"id":"3","task":"new"},{"conversationHistoryDeletedRange":[2,5],"id":"1","ts":8000,"task":"renamed"}]`
	write(t, state, anew) // after it was read, too
	if err := task.Undo(t.Context(), "E"); err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(anew, `"conversationHistoryDeletedRange":[2,5],`, "", 1); read(t, state) != want {
		t.Errorf("undone: %s, want %s", read(t, state), want)
	}

	hide(t, dir, "E", 4)
	task = open(t, dir)
	longer := anew
	write(t, state, longer)
	var e *precis.Error
	if err := task.Undo(t.Context(), "E"); !errors.As(err, &e) || e.Code != precis.CodeConflict || read(t, state) != longer {
		t.Errorf("the range was changed since the task was read: %v, %s", err, read(t, state))
	}
	task = open(t, dir)
	if len(task.Conversation.Edits) != 1 || task.Conversation.Edits[0].ID == "E" || !strings.Contains(fmt.Sprint(task.Warnings), "set another one") || shownOf(t, dir) != "0167" {
		t.Errorf("another range of Cline: %+v, %v, %s", task.Conversation.Edits, task.Warnings, shownOf(t, dir))
	}
	if err := task.Undo(t.Context(), "E"); precis.CodeOf(err) != precis.CodeNotFound || read(t, state) != longer {
		t.Errorf("what Cline has replaced is undone: %v", err)
	}
	if err := task.Undo(t.Context(), task.Conversation.Edits[0].ID); precis.CodeOf(err) != precis.CodeInvalid || read(t, state) != longer {
		t.Errorf("what Cline has cut is undone: %v", err)
	}
	hide(t, dir, "F", 6) // it goes on from there
	if err := open(t, dir).Undo(t.Context(), "F"); err != nil || read(t, state) != longer {
		t.Errorf("undone to the range of Cline: %v, %s", err, read(t, state))
	}
}

// Cline writes its last message anew when a task goes on; the range stays an edit of precis. Where messages that it
// hides have changed it is Cline's.
func TestARangeOutlivesTheNextTurn(t *testing.T) {
	dir, state := listed(t, items(""))
	history := filepath.Join(dir, roo.HistoryName)
	said := strings.Replace(read(t, history), `,{"role":"assistant","content":[{"type":"text","text":"message 7"}]}`, "", 1)
	write(t, history, said)
	hide(t, dir, "E", 6)
	write(t, history, strings.Replace(said, `"message 6"}]}]`, `"message 6, and on"}]},{"role":"assistant","content":"message 7"}]`, 1))
	if task := open(t, dir); shownOf(t, dir) != "016, and on7" || len(task.Warnings) > 0 {
		t.Errorf("%s is shown, %v", shownOf(t, dir), task.Warnings)
	}
	if err := open(t, dir).Undo(t.Context(), "E"); err != nil || read(t, state) != items("") {
		t.Errorf("%v, %s", err, read(t, state))
	}
	hide(t, dir, "E", 6)
	ranged := read(t, state)
	write(t, history, strings.Replace(said, "message 4", "another", 1))
	task := open(t, dir)
	if e := task.Conversation.Edits; shownOf(t, dir) != "016" || len(e) != 1 || e[0].ID == "E" || len(task.Warnings) == 0 {
		t.Errorf("%s is shown, %+v, %v", shownOf(t, dir), e, task.Warnings)
	}
	if read(t, state) != ranged {
		t.Error("the list is changed by reading")
	}
}

// A list that is not there, is damaged, or lacks the task is refused with a word, and nothing is written.
func TestNoRangeWithoutAListThatNamesTheTask(t *testing.T) {
	for _, tt := range []struct {
		list string
		code precis.Code
		says string
	}{
		{"", precis.CodeNotFound, "is not there"},
		{"[]", precis.CodeNotFound, "does not name the task"},
		{`[{"id":"2","task":"1"}]`, precis.CodeNotFound, "does not name the task"},
		{`[{"id":1}]`, precis.CodeNotFound, "does not name the task"},
		{`[{"id":"1"`, precis.CodeInvalid, "not the list of tasks"},
		{`{"id":"1"}`, precis.CodeInvalid, "not the list of tasks"},
		{`["1"]`, precis.CodeInvalid, "not the list of tasks"},
		{"\x00\x01", precis.CodeInvalid, "not the list of tasks"},
	} {
		dir, state := listed(t, tt.list)
		if tt.list == "" {
			if err := os.Remove(state); err != nil {
				t.Fatal(err)
			}
		}
		before := contents(t, filepath.Dir(filepath.Dir(dir)))
		task := open(t, dir)
		_, _, ranged := task.ClineRange()
		for _, err := range []error{ranged, task.Record(t.Context(), []precis.Edit{bare(t, dir, "E", 2, 6)}, time.UnixMilli(9000))} {
			var e *precis.Error
			if !errors.As(err, &e) || e.Code != tt.code || !strings.Contains(err.Error(), tt.says) || !strings.Contains(e.Hint, "-o FILE") {
				t.Errorf("%q: %v", tt.list, err)
			}
		}
		if diff := cmp.Diff(before, contents(t, filepath.Dir(filepath.Dir(dir)))); diff != "" {
			t.Errorf("%q: changed:\n%s", tt.list, diff)
		}
	}

	dir, state := listed(t, items(""))
	hide(t, dir, "E", 6)
	for _, list := range []string{"[", ""} {
		write(t, state, list)
		if list == "" {
			if err := os.Remove(state); err != nil {
				t.Fatal(err)
			}
		}
		var e *precis.Error
		if err := open(t, dir).Undo(t.Context(), "E"); !errors.As(err, &e) || !strings.Contains(e.Hint, "put the file back") {
			t.Errorf("%q: undone in a list that is damaged or gone: %v", list, err)
		}
	}
	write(t, state, items(`,"conversationHistoryDeletedRange":[2,5]`))
	if err := open(t, dir).Undo(t.Context(), "E"); err != nil || read(t, state) != items("") {
		t.Errorf("the list is there again: %v, %s", err, read(t, state))
	}
}

// A range that cannot be written changes nothing beside it.
func TestARangeIsWrittenWhollyOrNotAtAll(t *testing.T) {
	dir, state := listed(t, items(""))
	before := contents(t, filepath.Dir(filepath.Dir(dir)))
	if err := os.Chmod(state, 0o444); err != nil {
		t.Fatal(err)
	}
	var e *precis.Error
	if err := open(t, dir).Record(t.Context(), []precis.Edit{bare(t, dir, "E", 2, 6)}, time.UnixMilli(9000)); !errors.As(err, &e) || !strings.Contains(e.Hint, "nothing was changed") {
		t.Errorf("%v", err)
	}
	if diff := cmp.Diff(before, contents(t, filepath.Dir(filepath.Dir(dir)))); diff != "" {
		t.Errorf("the list is read-only, and something has changed:\n%s", diff)
	}
}

// A task whose files somebody holds is left alone.
func TestNoRangeForATaskInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, name := range []string{roo.HistoryName, roo.UIName, "../../state/" + roo.StateName} {
			dir, state := listed(t, items(""), "")
			if err := os.Mkdir(filepath.Join(dir, name)+".lock", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(filepath.Join(dir, name)+".lock", time.Now(), time.Now()); err != nil {
				t.Fatal(err)
			}
			err := open(t, dir).Record(t.Context(), []precis.Edit{bare(t, dir, "E", 2, 6)}, time.UnixMilli(9000))
			if precis.CodeOf(err) != precis.CodeConflict || !strings.Contains(err.Error(), "in use") || read(t, state) != items("") {
				t.Errorf("%s is held: %v", name, err)
			}
			if shown := shownOf(t, dir); shown != "01234567" {
				t.Errorf("%s is held: %s is shown", name, shown)
			}
		}
	})
}

// A range begins behind the first message and its answer, and ends before a message of the user.
func TestWhatARangeCanHide(t *testing.T) {
	for _, tt := range []struct {
		roles string
		ends  []int
	}{
		{"uauaua", []int{4}},
		{"uauauau", []int{4, 6}},
		{"uauauuaau", []int{4, 8}}, // two in a row: behind an answer
		{"uaau", []int{3}},
		{"uau", nil}, // nothing between
		{"ua", nil},
		{"uuaua", nil}, // no first pair
		{"auaua", nil},
	} {
		dir, _ := listed(t, items(""))
		var msgs []string
		for i, r := range tt.roles {
			msgs = append(msgs, fmt.Sprintf(`{"role":%q,"content":"message %d"}`, map[rune]string{'u': "user", 'a': "assistant"}[r], i))
		}
		write(t, filepath.Join(dir, roo.HistoryName), "["+strings.Join(msgs, ",")+"]")
		from, ends, err := open(t, dir).ClineRange()
		if !reflect.DeepEqual(ends, tt.ends) || len(ends) > 0 && from != 2 || (err == nil) != (len(ends) > 0) {
			t.Errorf("%s: from %d to %v, %v; want %v", tt.roles, from, ends, err, tt.ends)
		}
	}
	dir, _ := listed(t, items(""))
	task := open(t, dir)
	with := truncation("T", 2, 6)
	for _, e := range []precis.Edit{bare(t, dir, "E", 0, 4), bare(t, dir, "E", 2, 5), bare(t, dir, "E", 4, 6), with} {
		if task.Ranged(e) {
			t.Errorf("the range is said to say %+v", e.Replace)
		}
	}
}

// A rewind takes back a range with the messages before which it ends.
func TestARewindTakesBackARange(t *testing.T) {
	for _, tt := range []struct {
		keep   int
		ranged string
		shown  string
	}{
		{5, "", "01234"},
		{6, "", "012345"},
		{7, `,"conversationHistoryDeletedRange":[2,5]`, "016"},
	} {
		dir, state := listed(t, items(""), "", "")
		hide(t, dir, "E", 6)
		if err := open(t, dir).RewindToMessage(t.Context(), tt.keep); err != nil || read(t, state) != items(tt.ranged) {
			t.Errorf("%d: %v, %s", tt.keep, err, read(t, state))
		}
		if task := open(t, dir); shownOf(t, dir) != tt.shown || len(task.Warnings) > 0 {
			t.Errorf("%d: %s is shown, %v", tt.keep, shownOf(t, dir), task.Warnings)
		}
	}
}
