package roo_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive/roo"
)

// bulky is a task folder whose agent has read two files; the layout of its history is not
// one that a program writes.
func bulky(t *testing.T) string {
	t.Helper()
	dir := folder(t)
	result := func(id, text string) string {
		return fmt.Sprintf("{ \"type\" : \"tool_result\", \"tool_use_id\":%q,\n  \"content\": %q, \"extra\":[1, 2] }", id, text)
	}
	long := strings.Repeat("a line of a file é 漢 \t and so on\n", 80)
	write(t, filepath.Join(dir, roo.HistoryName), `[
  {"role":"user","content":[{"type":"text","text":"Read both."}],"ts":1000},
  {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"read_file","input":{"path":"a"}}],"ts":1100},
  {"role":"user","content":[`+result("t1", long)+`, {"type":"text","text":"<environment_details>x</environment_details>"}], "ts":1200},
  {"role":"assistant","content":[{"type":"tool_use","id":"t2","name":"read_file","input":{"path":"b"}}],"ts":1300},
  {"ts":1400,"content":[`+result("t2", "b "+long)+`],"role":"user"},
  {"role":"assistant","content":"Done.","ts":1500}
]
`)
	return dir
}

// shorter replaces the results of messages by short ones.
func shorter(t *testing.T, task *roo.Task, id string, messages ...int) precis.Edit {
	t.Helper()
	said := task.Conversation.Transcript
	e := precis.Edit{ID: id, Kind: precis.KindPruning, Time: time.UnixMilli(7000).UTC(), Report: precis.EditReport{Rung: "selective"}}
	for _, m := range messages {
		b := said.At(m).Content[0].(precis.ToolResult)
		b.Content = []precis.Block{precis.Text{Text: fmt.Sprintf("[m%d.b0, shortened by %s]", m, id)}}
		e.Replace = append(e.Replace, precis.ReplaceBlock(said, m, 0, b))
	}
	if err := e.Identify(said); err != nil {
		t.Fatal(err)
	}
	return e
}

func record(t *testing.T, dir string, patch bool, edits func(*roo.Task) []precis.Edit) {
	t.Helper()
	task := open(t, dir)
	task.Patch = patch
	if err := task.Record(t.Context(), edits(task), time.UnixMilli(9000)); err != nil {
		t.Fatal(err)
	}
}

func TestPatchesAreWrittenIntoTheHistory(t *testing.T) {
	dir := bulky(t)
	before := contents(t, dir)
	said := open(t, dir).Conversation.Transcript
	record(t, dir, true, func(task *roo.Task) []precis.Edit { return []precis.Edit{shorter(t, task, "S1", 2)} })
	record(t, dir, true, func(task *roo.Task) []precis.Edit { return []precis.Edit{shorter(t, task, "S2", 4)} })
	file := contents(t, dir)["/"+roo.HistoryName]
	for _, want := range []string{"shortened by S1", "shortened by S2", `"extra":[1, 2] }, {"type":"text"`, "\n  {\"ts\":1400"} {
		if !strings.Contains(file, want) {
			t.Errorf("the history lacks %q", want)
		}
	}
	if strings.Contains(file, "a line of a file") {
		t.Error("the history still has what was shortened")
	}
	task := open(t, dir)
	if c := task.Conversation; c.Transcript.Fingerprint(c.Transcript.Len()) != said.Fingerprint(said.Len()) || len(c.Edits) != 2 || len(task.Warnings) > 0 {
		t.Errorf("read back: another transcript, or %d edits; %v", len(c.Edits), task.Warnings)
	}
	record(t, dir, false, func(*roo.Task) []precis.Edit { return []precis.Edit{truncation("T", 1, 3)} }) // tags go with patches
	if err := open(t, dir).Undo(t.Context(), "S1"); err != nil {
		t.Fatal(err)
	}
	file = contents(t, dir)["/"+roo.HistoryName]
	if strings.Contains(file, "shortened by S1") || !strings.Contains(file, "shortened by S2") || !strings.Contains(file, "truncationParent") {
		t.Error("undoing one edit does not leave the others")
	}
	if err := open(t, dir).Undo(t.Context(), "T", "S2"); err != nil {
		t.Fatal(err)
	}
	after := contents(t, dir)
	for _, name := range []string{roo.HistoryName, roo.UIName} {
		if after["/"+name] != before["/"+name] {
			t.Errorf("undo does not give back every byte of %s", name)
		}
	}
}

// Without Patch such edits stand in the sidecar alone, as before.
func TestPatchesAreAskedFor(t *testing.T) {
	dir := bulky(t)
	before := contents(t, dir)["/"+roo.HistoryName]
	record(t, dir, false, func(task *roo.Task) []precis.Edit { return []precis.Edit{shorter(t, task, "S1", 2)} })
	if contents(t, dir)["/"+roo.HistoryName] != before {
		t.Error("the history is patched")
	}
}

// The editor may write the file anew, add to it, or change what was patched.
func TestPatchesOutliveTheEditor(t *testing.T) {
	dir := bulky(t)
	said := open(t, dir).Conversation.Transcript
	record(t, dir, true, func(task *roo.Task) []precis.Edit { return []precis.Edit{shorter(t, task, "S1", 2, 4)} })
	path := filepath.Join(dir, roo.HistoryName)
	file := contents(t, dir)["/"+roo.HistoryName]
	compact := strings.NewReplacer("{ \"type\" : ", `{"type":`, ",\n  \"content\": ", `,"content":`, `, "extra":[1, 2] }`, `,"extra":[1,2]}`).Replace(file)
	write(t, path, strings.Replace(compact, `"Done.","ts":1500}`, `"Done.","ts":1500},{"role":"user","content":[{"type":"text","text":"Thanks."}],"ts":1600}`, 1))
	task := open(t, dir)
	if c := task.Conversation; c.Transcript.Len() != 7 || c.Transcript.Fingerprint(6) != said.Fingerprint(6) || len(c.Edits) != 1 || len(task.Warnings) > 0 {
		t.Errorf("written anew and longer: %d messages, %d edits, %v", c.Transcript.Len(), len(c.Edits), task.Warnings)
	}
	write(t, path, strings.Replace(file, "[m2.b0, shortened by S1]", "what somebody else wrote", 1))
	task = open(t, dir)
	if len(task.Warnings) == 0 || !strings.Contains(fmt.Sprint(task.Warnings), "the block has changed") {
		t.Errorf("a patch that was changed is taken for granted: %v", task.Warnings)
	}
}

// A message whose content is a string is patched as a whole.
func TestTextsArePatched(t *testing.T) {
	dir := folder(t)
	before := contents(t, dir)["/"+roo.HistoryName]
	record(t, dir, true, func(task *roo.Task) []precis.Edit {
		e := precis.Edit{ID: "S", Kind: precis.KindPruning, Replace: []precis.Replacement{precis.ReplaceBlock(task.Conversation.Transcript, 3, 0, precis.Text{Text: "short \"text\""})}}
		if err := e.Identify(task.Conversation.Transcript); err != nil {
			t.Fatal(err)
		}
		return []precis.Edit{e}
	})
	if file := contents(t, dir)["/"+roo.HistoryName]; !strings.Contains(file, `"content":"short \"text\""`) {
		t.Error("the text is not patched")
	}
	if err := open(t, dir).Undo(t.Context(), "S"); err != nil || contents(t, dir)["/"+roo.HistoryName] != before {
		t.Errorf("undo does not give back every byte: %v", err)
	}
}

// A restored block has its bytes again in the file.
func TestRestoringTakesAPatchOut(t *testing.T) {
	dir := bulky(t)
	record(t, dir, true, func(task *roo.Task) []precis.Edit { return []precis.Edit{shorter(t, task, "S1", 2, 4)} })
	record(t, dir, true, func(task *roo.Task) []precis.Edit {
		r := precis.ReplaceBlock(task.Conversation.Transcript, 2, 0, nil)
		r.Restore = true
		e := precis.Edit{ID: "R", Kind: precis.KindRestore, Replace: []precis.Replacement{r}}
		if err := e.Identify(task.Conversation.Transcript); err != nil {
			t.Fatal(err)
		}
		return []precis.Edit{e}
	})
	file := contents(t, dir)["/"+roo.HistoryName]
	if strings.Contains(file, "m2.b0, shortened") || !strings.Contains(file, "m4.b0, shortened") {
		t.Error("the patch of what was restored stays, or another one has gone")
	}
	if err := open(t, dir).Undo(t.Context(), "R"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(contents(t, dir)["/"+roo.HistoryName], "m2.b0, shortened") {
		t.Error("undoing the restore does not bring the patch back")
	}
}
