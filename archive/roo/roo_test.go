package roo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/archivetest"
	"github.com/precis-dev/precis/archive/roo"
)

const (
	plain = `[{"role":"user","content":"task","ts":100},{"role":"assistant","content":[{"type":"text","text":"a"}],"ts":200},
	{"role":"user","content":"more","ts":300}]`
	condensed = `[
	{"role":"user","content":"task","ts":100,"condenseParent":"C1"},
	{"role":"assistant","content":"a","ts":200,"condenseParent":"C1"},
	{"role":"user","content":[{"type":"text","text":"S"}],"ts":201,"isSummary":true,"condenseId":"C1"},
	{"role":"assistant","content":"b","ts":400},
	{"role":"user","content":"v","ts":500}
]`
	truncated = `[{"role":"user","content":"0","ts":1},{"role":"assistant","content":"1","ts":2,"truncationParent":"T1"},{"role":"user","content":"2","ts":3,"truncationParent":"T1"},{"role":"user","content":"[Sliding window truncation: 2 messages hidden to reduce context]","ts":3,"isTruncationMarker":true,"truncationId":"T1"},{"role":"assistant","content":"3","ts":4}]`
)

func TestFormat(t *testing.T) {
	archivetest.Run(t, roo.Format{}, map[string][]byte{"plain": []byte(plain), "condensed": []byte(condensed), "truncated": []byte(truncated)})
}

// FuzzRead is not that of archivetest: Roo stores messages without content, and
// the reader must keep their places.
func FuzzRead(f *testing.F) {
	f.Add([]byte(condensed))
	f.Add([]byte(truncated))
	f.Fuzz(func(t *testing.T, data []byte) {
		rec, err := roo.Format{}.Read(archive.Source{Data: data})
		if err != nil {
			if precis.CodeOf(err) != precis.CodeInvalid {
				t.Fatalf("%v", err)
			}
			return
		}
		conv := rec.Conversation
		view, _ := precis.Repair(precis.View(conv.Transcript, conv.Edits))
		if b := precis.Check(view); len(b) > 0 {
			t.Fatalf("%v", b[0])
		}
		if h, err := roo.ParseHistory(data); err != nil || !bytes.Equal(h.Bytes(), data) {
			t.Fatalf("the bytes are not kept: %v", err)
		}
	})
}

func parse(t testing.TB, data string) *roo.History {
	t.Helper()
	h, err := roo.ParseHistory([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func view(t testing.TB, h *roo.History) []string {
	t.Helper()
	tr, edits, err := h.Read(nil)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range precis.View(tr, edits) {
		out = append(out, m.PlainText())
	}
	return out
}

func TestTagsBecomeEdits(t *testing.T) {
	for _, tt := range []struct {
		name, data string
		messages   int
		want       []string
	}{
		{"plain", plain, 3, []string{"task", "a", "more"}},
		{"condensed", condensed, 4, []string{"S", "b", "v"}},
		{"truncated", truncated, 4, []string{"0", "[Sliding window truncation: 2 messages hidden to reduce context]", "3"}},
	} {
		h := parse(t, tt.data)
		tr, _, _ := h.Read(nil)
		if got := view(t, h); tr.Len() != tt.messages || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %d messages, view %q", tt.name, tr.Len(), got)
		}
	}
}

// genHistory draws a history as Roo might store it, compact or indented.
func genHistory(t *rapid.T) string {
	var parts []string
	for i := range rapid.IntRange(1, 20).Draw(t, "n") {
		role := []string{"user", "assistant"}[i%2]
		ts := ""
		if rapid.IntRange(0, 9).Draw(t, "ts") > 0 {
			ts = fmt.Sprintf(`, "ts":%d`, 1000+10*i)
		}
		parts = append(parts, fmt.Sprintf(`{ "role":%q,"content":%q%s%s}`, role, fmt.Sprint("m", i), ts, rapid.SampledFrom([]string{"", "\n\t"}).Draw(t, "space")))
	}
	sep := rapid.SampledFrom([]string{",", ",\n\t"}).Draw(t, "sep")
	return rapid.SampledFrom([]string{"[", "[\n\t", "\uFEFF["}).Draw(t, "head") + strings.Join(parts, sep) + rapid.SampledFrom([]string{"]", "\n]\n"}).Draw(t, "tail")
}

func TestWrittenAndRemovedGivesTheBytesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := genHistory(t)
		h, err := roo.ParseHistory([]byte(data))
		if err != nil {
			t.Fatal(err)
		}
		if string(h.Bytes()) != data {
			t.Fatalf("unchanged bytes differ: %q", h.Bytes())
		}
		var ids []string
		for k := range rapid.IntRange(1, 3).Draw(t, "edits") {
			tr, edits, err := h.Read(nil)
			if err != nil {
				t.Fatal(err)
			}
			e := genEdit(t, fmt.Sprint("E", k), tr, edits)
			if len(e.Replace) == 0 || precis.CheckEdit(tr, edits, e) != nil {
				continue
			}
			want := texts(precis.View(tr, append(edits, e)))
			if err := h.Apply(e, 9999); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, e.ID)
			tr2, edits2, err := h.Read(nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := texts(precis.View(tr2, edits2)); !reflect.DeepEqual(got, want) || tr2.Len() != tr.Len() {
				t.Fatalf("%s\nreads %q, want %q", h.Bytes(), got, want)
			}
		}
		for i := len(ids) - 1; i >= 0; i-- {
			if !h.Remove(ids[i]) {
				t.Fatalf("edit %s is not there", ids[i])
			}
		}
		if string(h.Bytes()) != data {
			t.Fatalf("undone: %q\nwant: %q", h.Bytes(), data)
		}
	})
}

func texts(msgs []precis.Message) []string {
	var out []string
	for _, m := range msgs {
		out = append(out, m.PlainText())
	}
	return out
}

// genEdit draws a condensation of everything, or a truncation of some messages
// after the first.
func genEdit(t *rapid.T, id string, tr *precis.Transcript, edits []precis.Edit) precis.Edit {
	with := []precis.Message{precis.NewText(precis.RoleUser, "instead "+id)}
	if rapid.Bool().Draw(t, "condense") {
		return precis.Edit{ID: id, Kind: precis.KindCondensation, Replace: []precis.Replacement{{From: 0, To: tr.Len(), With: with}}}
	}
	e := precis.Edit{ID: id, Kind: precis.KindTruncation}
	last := 1
	for _, u := range precis.Units(tr, edits) {
		if !u.Original() || u.From < last || rapid.IntRange(0, 2).Draw(t, "keep") == 0 {
			continue
		}
		if n := len(e.Replace); n > 0 && e.Replace[n-1].To == u.From {
			e.Replace[n-1].To = u.To
			continue
		}
		e.Replace = append(e.Replace, precis.Replacement{From: u.From, To: u.To})
	}
	for i := range e.Replace {
		if i == len(e.Replace)-1 || rapid.Bool().Draw(t, "marker") {
			e.Replace[i].With = with
		}
	}
	return e
}

func folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "task-7")
	if err := os.MkdirAll(filepath.Join(dir, roo.OutputsName), 0o755); err != nil {
		t.Fatal(err)
	}
	var api, ui []string
	for i := range 12 {
		ts := 1000 + 100*i
		api = append(api, fmt.Sprintf(`{"role":%q,"content":%q,"ts":%d}`, []string{"user", "assistant"}[i%2], strings.Repeat(fmt.Sprint("word", i, " "), 50), ts))
		ui = append(ui, fmt.Sprintf(`{"ts":%d,"type":"say","say":"text","text":"x"}`, ts))
		write(t, filepath.Join(dir, roo.OutputsName, fmt.Sprintf("cmd-%d.txt", ts)), "output")
	}
	write(t, filepath.Join(dir, roo.HistoryName), "["+strings.Join(api, ",")+"]")
	write(t, filepath.Join(dir, roo.UIName), "["+strings.Join(ui, ",")+"]")
	write(t, filepath.Join(dir, roo.ItemName), `{"id":"7","task":"the task"}`)
	write(t, filepath.Join(dir, roo.MetadataName), `{"files_in_context":[{"path":"a.go","record_state":"active","record_source":"read_tool","roo_read_date":5}]}`)
	return dir
}

func write(t *testing.T, path, data string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, dir string) *roo.Task {
	t.Helper()
	task, err := roo.OpenTask(dir)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

func truncation(id string, from, to int) precis.Edit {
	return precis.Edit{ID: id, Run: "run", Kind: precis.KindTruncation, Time: time.UnixMilli(5000).UTC(), Replace: []precis.Replacement{
		{From: from, To: to, With: []precis.Message{precis.NewText(precis.RoleUser, "marker")}},
	}, Report: precis.EditReport{Rung: "truncate", Reason: "because", TokensBefore: 900, TokensAfter: 300, Messages: to - from}}
}

func TestTaskReadsEverythingBesideIt(t *testing.T) {
	task := open(t, folder(t))
	c := task.Conversation
	if c.ID != "7" || c.Title != "the task" || c.Transcript.Len() != 12 || task.UI.Len() != 12 {
		t.Errorf("%+v", c)
	}
	if len(task.Files) != 1 || task.Files[0].Path != "a.go" || task.Files[0].Source != "read_tool" {
		t.Errorf("files %+v", task.Files)
	}
}

func TestRecordWritesWhatRooWrites(t *testing.T) {
	dir := folder(t)
	ctx := context.Background()
	pin := precis.Edit{ID: "P", Kind: precis.KindPin, Pins: []precis.Handle{precis.MessageHandle(0)}}
	if err := pin.Identify(open(t, dir).Conversation.Transcript); err != nil {
		t.Fatal(err)
	}
	if err := open(t, dir).Record(ctx, []precis.Edit{truncation("T", 1, 5), pin}, time.UnixMilli(9000)); err != nil {
		t.Fatal(err)
	}
	ui, _ := os.ReadFile(filepath.Join(dir, roo.UIName))
	want := `{"ts":9000,"type":"say","say":"sliding_window_truncation","contextTruncation":{"truncationId":"T","messagesRemoved":4,"prevContextTokens":900,"newContextTokens":300}}]`
	if !bytes.HasSuffix(ui, []byte(want)) {
		t.Errorf("UI event: %s", ui[max(0, len(ui)-300):])
	}
	task := open(t, dir)
	if n := len(task.Conversation.Edits); n != 2 {
		t.Fatalf("%d edits read back", n)
	}
	for _, e := range task.Conversation.Edits {
		if e.ID == "T" && (e.Run != "run" || e.Report.Reason != "because" || e.Report.Rung != "truncate" || e.Time.IsZero()) {
			t.Errorf("what tags cannot say is lost: %+v", e)
		}
	}
	if backup, err := os.ReadFile(filepath.Join(dir, roo.HistoryName+roo.BackupSuffix)); err != nil || bytes.Contains(backup, []byte("truncation")) {
		t.Errorf("the former history is not kept (%v)", err)
	}
}

// TestWhatHoldsIsShownBesideTheMarker: Roo's file has the marker alone, the views of the task have what stands beside it, and
// undo gives the bytes back.
func TestWhatHoldsIsShownBesideTheMarker(t *testing.T) {
	dir := folder(t)
	was, err := os.ReadFile(filepath.Join(dir, roo.HistoryName))
	if err != nil {
		t.Fatal(err)
	}
	call := precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: "t0", Name: "update_todo_list", Input: []byte(`{"todos":"[ ] write tests"}`)}}}
	result := precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: "t0", Content: []precis.Block{precis.Text{Text: "Updated."}}}}}
	e := truncation("T", 1, 5)
	e.Replace[0].With = append(e.Replace[0].With, call, result)
	e.Replace = append([]precis.Replacement{{From: 0, To: 1, With: []precis.Message{call, result}}}, e.Replace...)
	if err := open(t, dir).Record(t.Context(), []precis.Edit{e}, time.UnixMilli(9000)); err != nil {
		t.Fatal(err)
	}
	raw, _ := os.ReadFile(filepath.Join(dir, roo.HistoryName))
	if n := bytes.Count(raw, []byte(`"truncationParent":"T"`)); n != 5 || bytes.Contains(raw, []byte("update_todo_list")) {
		t.Errorf("%d messages are tagged: %s", n, raw)
	}
	conv := open(t, dir).Conversation
	view := precis.View(conv.Transcript, conv.Edits)
	calls := 0
	for _, m := range view {
		if m.HasToolResult() {
			calls++
		}
	}
	if calls != 2 || !slices.ContainsFunc(view, func(m precis.Message) bool { return m.PlainText() == "marker" }) {
		t.Errorf("the view shows %d results: %v", calls, view)
	}
	if err := open(t, dir).Undo(t.Context(), "T"); err != nil {
		t.Fatal(err)
	}
	if is, _ := os.ReadFile(filepath.Join(dir, roo.HistoryName)); !bytes.Equal(is, was) {
		t.Error("undo does not give the bytes back")
	}
}

func TestRewindTakesTheEventsAlong(t *testing.T) {
	dir := folder(t)
	ctx := context.Background()
	if err := open(t, dir).Record(ctx, []precis.Edit{truncation("T", 1, 5)}, time.UnixMilli(2150)); err != nil {
		t.Fatal(err)
	}
	task := open(t, dir)
	if err := task.Rewind(ctx, roo.Target{TS: 1600}); err != nil {
		t.Fatal(err)
	}
	task = open(t, dir)
	if n := task.Conversation.Transcript.Len(); n != 6 || len(task.Conversation.Edits) != 0 || task.UI.Len() != 6 {
		t.Errorf("%d messages, %d edits, %d UI messages", n, len(task.Conversation.Edits), task.UI.Len())
	}
	left, _ := os.ReadDir(filepath.Join(dir, roo.OutputsName))
	kept, _ := os.ReadDir(filepath.Join(dir, roo.OutputsName+roo.BackupSuffix))
	if len(left) != 6 || len(kept) != 6 {
		t.Errorf("%d command outputs left, %d kept aside", len(left), len(kept))
	}
	if err := task.Rewind(ctx, roo.Target{TS: 77}); precis.CodeOf(err) != precis.CodeNotFound {
		t.Errorf("an unknown time: %v", err)
	}
}

func TestRecordRefusesAChangedTask(t *testing.T) {
	dir := folder(t)
	task := open(t, dir)
	path := filepath.Join(dir, roo.HistoryName)
	write(t, path, plain)
	err := task.Record(context.Background(), []precis.Edit{truncation("T", 1, 2)}, time.Now())
	if precis.CodeOf(err) != precis.CodeConflict {
		t.Errorf("error %v", err)
	}
	if data, _ := os.ReadFile(path); string(data) != plain {
		t.Error("the other program's change was written over")
	}
	if _, err := os.Stat(path + ".lock"); !os.IsNotExist(err) {
		t.Error("the lock was left")
	}
}

func TestStaleLockIsTakenOver(t *testing.T) {
	dir := folder(t)
	lock := filepath.Join(dir, roo.HistoryName+".lock")
	if err := os.Mkdir(lock, 0o755); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Minute)
	if err := os.Chtimes(lock, old, old); err != nil {
		t.Fatal(err)
	}
	if err := open(t, dir).Record(context.Background(), []precis.Edit{truncation("T", 1, 3)}, time.Now()); err != nil {
		t.Fatal(err)
	}
}

func TestHeldLockIsRespected(t *testing.T) {
	dir := folder(t)
	if err := os.Mkdir(filepath.Join(dir, roo.HistoryName+".lock"), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 150*time.Millisecond)
	defer cancel()
	before, _ := os.ReadFile(filepath.Join(dir, roo.HistoryName))
	if err := open(t, dir).Record(ctx, []precis.Edit{truncation("T", 1, 3)}, time.Now()); precis.CodeOf(err) != precis.CodeCanceled {
		t.Errorf("error %v", err)
	}
	if after, _ := os.ReadFile(filepath.Join(dir, roo.HistoryName)); !bytes.Equal(before, after) {
		t.Error("written without the lock")
	}
}

func TestLegacyNameAndMalformedFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, roo.LegacyHistoryName), plain)
	write(t, filepath.Join(dir, roo.UIName), "{")
	task := open(t, dir)
	if task.Conversation.Transcript.Len() != 3 || task.UI != nil || len(task.Warnings) != 1 || task.Warnings[0].Place != roo.UIName {
		t.Errorf("%d messages, warnings %v", task.Conversation.Transcript.Len(), task.Warnings)
	}
	write(t, filepath.Join(dir, roo.LegacyHistoryName), `[{"role":"user","content":"a"},{"content":"b"}]`)
	if _, err := roo.OpenTask(dir); precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), "message 1") {
		t.Errorf("error %v", err)
	}
	write(t, filepath.Join(dir, roo.LegacyHistoryName), `[{"role":"user"`)
	if _, err := roo.OpenTask(dir); precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), "byte 15") {
		t.Errorf("error %v", err)
	}
}

func TestSidecarOfARewoundTaskIsLeftOut(t *testing.T) {
	dir := folder(t)
	pin := precis.Edit{ID: "P", Kind: precis.KindPin, Pins: []precis.Handle{precis.MessageHandle(9)}}
	task := open(t, dir)
	if err := pin.Identify(task.Conversation.Transcript); err != nil {
		t.Fatal(err)
	}
	if err := task.Record(context.Background(), []precis.Edit{pin}, time.Now()); err != nil {
		t.Fatal(err)
	}
	var list []json.RawMessage
	data, _ := os.ReadFile(filepath.Join(dir, roo.HistoryName))
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	short, _ := json.Marshal(list[:4]) // as Roo would rewind it
	write(t, filepath.Join(dir, roo.HistoryName), string(short))
	rec, err := archive.Open(dir, []archive.Format{roo.Format{}}, roo.HistoryNames...)
	if err != nil || len(rec.Conversation.Edits) != 0 || len(rec.Warnings) != 1 {
		t.Errorf("%v, edits %d, warnings %v", err, len(rec.Conversation.Edits), rec.Warnings)
	}
}

func TestRewindToEachMessage(t *testing.T) {
	ctx := context.Background()
	for n := 1; n < 12; n++ {
		dir := folder(t)
		write(t, filepath.Join(dir, roo.UIName), `[{"ts":990,"type":"say","say":"text"},{"ts":1395,"type":"say","say":"user_feedback"},{"ts":1890,"type":"say","say":"text"}]`)
		if err := open(t, dir).Record(ctx, []precis.Edit{truncation("T", 1, 5)}, time.UnixMilli(2150)); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(filepath.Join(dir, roo.HistoryName))
		if err := open(t, dir).RewindToMessage(ctx, n); err != nil {
			t.Fatal(err)
		}
		task := open(t, dir)
		if got := task.Conversation.Transcript.Len(); got != n || len(task.Conversation.Edits) != 0 {
			t.Errorf("message %d: %d messages, %d edits", n, got, len(task.Conversation.Edits))
		}
		if kept, _ := os.ReadFile(filepath.Join(dir, roo.HistoryName+roo.BackupSuffix+"-2")); !bytes.Equal(kept, before) {
			t.Errorf("message %d: the history before the rewind is not kept", n)
		}
	}
	if err := open(t, folder(t)).RewindToMessage(ctx, 12); precis.CodeOf(err) != precis.CodeNotFound {
		t.Errorf("beyond the end: %v", err)
	}
}

func TestRecordRefusesChangedUIMessages(t *testing.T) {
	dir := folder(t)
	task := open(t, dir)
	path := filepath.Join(dir, roo.UIName)
	write(t, path, `[{"ts":1,"type":"say","say":"text","text":"written by the editor meanwhile"}]`)
	if err := task.Record(context.Background(), []precis.Edit{truncation("T", 1, 3)}, time.Now()); precis.CodeOf(err) != precis.CodeConflict {
		t.Errorf("error %v", err)
	}
	if data, _ := os.ReadFile(path); !bytes.Contains(data, []byte("meanwhile")) {
		t.Error("the editor's message is lost")
	}
}

func TestDamagedSidecarIsLeftOut(t *testing.T) {
	dir := folder(t)
	tr := open(t, dir).Conversation.Transcript
	bad := precis.Edit{ID: "B", Kind: precis.KindClip, Seen: tr.Len(), At: tr.Fingerprint(tr.Len()),
		Replace: []precis.Replacement{{From: tr.Len(), To: tr.Len(), Block: &precis.BlockRef{}}}}
	data, err := json.Marshal(map[string]any{"precis": 1, "edits": []precis.Edit{bad}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, roo.SidecarName), string(data))
	if task := open(t, dir); len(task.Conversation.Edits) != 0 || len(task.Warnings) != 1 {
		t.Errorf("%d edits, warnings %v", len(task.Conversation.Edits), task.Warnings)
	}
}

func TestRecordOnAChangedTaskIsAConflict(t *testing.T) {
	path := filepath.Join(t.TempDir(), "api_conversation_history.json")
	write := func(texts ...string) {
		var items []string
		for i, s := range texts {
			items = append(items, fmt.Sprintf(`{"role":%q,"content":[{"type":"text","text":%q}],"ts":%d}`, []string{"user", "assistant"}[i%2], s, 1000+i))
		}
		if err := os.WriteFile(path, []byte("["+strings.Join(items, ",")+"]"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("task", "1", "2", "3", "4", "5")
	e := truncation("", 1, 5)
	if err := e.Identify(open(t, path).Conversation.Transcript); err != nil {
		t.Fatal(err)
	}
	write("task", "new 1", "never drop the table", "new 3") // the user rewound and went on
	was, _ := os.ReadFile(path)
	err := open(t, path).Record(t.Context(), []precis.Edit{e}, time.Now())
	if now, _ := os.ReadFile(path); precis.CodeOf(err) != precis.CodeConflict || !bytes.Equal(now, was) {
		t.Errorf("%v, the file is now %s", err, now)
	}
	write("task", "1", "2", "3", "4", "5", "6")
	if err := open(t, path).Record(t.Context(), []precis.Edit{e}, time.Now()); err != nil {
		t.Errorf("messages were only added: %v", err)
	}
}
