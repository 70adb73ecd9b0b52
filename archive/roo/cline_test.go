package roo_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive/roo"
)

// clineTask is a task of Cline: no times in its history, and a range with its UI messages.
func clineTask(t *testing.T, ranges ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "saoudrizwan.claude-dev", "tasks", "1")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var msgs, ui []string
	for i := range 8 {
		role := []string{"user", "assistant"}[i%2]
		msgs = append(msgs, `{"role":"`+role+`","content":[{"type":"text","text":"message `+string(rune('0'+i))+`"}]}`)
	}
	for i, r := range ranges {
		at := `{"ts":100` + string(rune('0'+i)) + `,"type":"say","say":"text","text":"x"`
		if r != "" {
			at += `,"conversationHistoryDeletedRange":` + r
		}
		ui = append(ui, at+"}")
	}
	write(t, filepath.Join(dir, roo.HistoryName), "["+strings.Join(msgs, ",")+"]")
	write(t, filepath.Join(dir, roo.UIName), "["+strings.Join(ui, ",")+"]")
	return dir
}

// What Cline does not send any more is hidden in what is read of its tasks.
func TestWhatClineHidesIsHidden(t *testing.T) {
	for _, tt := range []struct {
		ranges []string
		shown  string
		at     int64 // of the edit
	}{
		{nil, "01234567", 0},
		{[]string{"", ""}, "01234567", 0},
		{[]string{"", "[2,3]", "[2,3]"}, "014567", 1001},
		{[]string{"[2,3]", "[2,5]", "[2,5]", ""}, "0167", 1001},
		{[]string{"[2,99]"}, "017", 1000},  // longer than what is there: the newest message stays
		{[]string{"[5,2]"}, "01234567", 0}, // no range
		{[]string{`"x"`}, "01234567", 0},
	} {
		conv := open(t, clineTask(t, tt.ranges...)).Conversation
		var shown strings.Builder
		for _, m := range precis.View(conv.Transcript, conv.Edits) {
			shown.WriteString(strings.TrimPrefix(m.PlainText(), "message "))
		}
		if shown.String() != tt.shown || (len(conv.Edits) > 0) != (tt.at > 0) {
			t.Errorf("%q: %s is shown, want %s; %d edits", tt.ranges, shown.String(), tt.shown, len(conv.Edits))
		} else if tt.at > 0 && (conv.Edits[0].Time.UnixMilli() != tt.at || conv.Edits[0].Report.Trigger != string(precis.TriggeredRecorded)) {
			t.Errorf("%q: %+v", tt.ranges, conv.Edits[0])
		}
	}
}

// Cline knows none of Roo's tags: nothing of an edit is written into its files.
func TestNoTagsForCline(t *testing.T) {
	dir := clineTask(t, "")
	before, err := os.ReadFile(filepath.Join(dir, roo.HistoryName))
	if err != nil {
		t.Fatal(err)
	}
	task := open(t, dir)
	e := precis.Edit{ID: "e", Kind: precis.KindTruncation, Replace: []precis.Replacement{{From: 2, To: 4, With: []precis.Message{precis.NewText(precis.RoleUser, "[hidden]")}}}}
	if err := e.Identify(task.Conversation.Transcript); err != nil {
		t.Fatal(err)
	}
	if tags, patches := task.Says(e); tags || patches {
		t.Error("its files are said to hold it")
	}
	if err := task.Record(t.Context(), []precis.Edit{e}, time.UnixMilli(9000)); err != nil {
		t.Fatal(err)
	}
	if now, err := os.ReadFile(filepath.Join(dir, roo.HistoryName)); err != nil || string(now) != string(before) {
		t.Errorf("the history is changed: %s, %v", now, err)
	}
	if again := open(t, dir); len(again.Conversation.Edits) != 1 || again.Conversation.Edits[0].ID != e.ID {
		t.Errorf("precis does not know it again: %+v", again.Conversation.Edits)
	}
}
