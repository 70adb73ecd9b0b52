package archive_test

import (
	"errors"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
)

func TestBuilder(t *testing.T) {
	rec := &archive.Recording{}
	b := archive.NewBuilder(rec)
	call := func(id string) bool {
		return b.Append(precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.Text{Text: " \n"}, precis.ToolUse{ID: id, Name: "dig"}}})
	}
	answer := func(id string) bool {
		return b.Append(precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id}}})
	}
	if b.Append(precis.NewText(precis.RoleUser, " \n")) || !call("c1") || !answer("c1") || !call("c1") || !answer("c1") || !call("") || !answer("") || !call("") || !answer("") {
		t.Error("a message is ignored, or one without content is not")
	}
	var ids []string
	for _, m := range b.Conv.Transcript.Messages() {
		if len(m.Content) != 1 {
			t.Errorf("%d blocks in %+v", len(m.Content), m)
		}
		if use, ok := m.Content[0].(precis.ToolUse); ok {
			ids = append(ids, use.ID)
		}
	}
	if breaches := precis.Check(b.Conv.Transcript.Messages()[1:]); rec.Ignored != 1 || len(ids) != 4 || ids[0] != "c1" || ids[1] != "c1_2" || ids[2] == "" || ids[3] == ids[2] {
		t.Errorf("%d ignored, calls %q, %v", rec.Ignored, ids, breaches)
	}
}

func TestEachNamesTheElement(t *testing.T) {
	fault := errors.New("no stone")
	read := func(raw []byte) error {
		if string(raw) == "3" {
			return fault
		}
		return nil
	}
	err := archive.Each(jsonspan.Span{Raw: []byte("[1, 2, 3]"), Offset: 10}, "stone", read)
	var e *precis.Error
	if !errors.As(err, &e) || e.Place != "stone 2 at byte 17" || !errors.Is(err, fault) {
		t.Errorf("%v", err)
	}
	if err := archive.Each(jsonspan.Span{Raw: []byte("[1, 2]")}, "stone", read); err != nil {
		t.Error(err)
	}
}

func TestTimes(t *testing.T) {
	want := time.Date(2026, 1, 2, 3, 4, 5, 5e8, time.UTC)
	for _, s := range []string{"2026-01-02T03:04:05.5Z", "2026-01-02T04:04:05.5+01:00", "2026-01-02T03:04:05.5"} {
		if got := archive.ParseTime(s); !got.Equal(want) {
			t.Errorf("%s is %v", s, got)
		}
	}
	if got := archive.ParseMillis([]byte("1767323045500")); !got.Equal(want) {
		t.Errorf("%v", got)
	}
	if !archive.ParseTime("soon").IsZero() || !archive.ParseMillis([]byte(`"soon"`)).IsZero() || !archive.ParseMillis([]byte("-1")).IsZero() {
		t.Error("what is no time is one")
	}
}
