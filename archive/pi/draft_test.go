package pi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/pi"
)

// kept is a session with members of blocks that precis does not know.
var kept = entries(header, "e1 - "+message("user", content(`{"type":"text","text":"one"},{"type":"image","mimeType":"image/png","data":"AA"}`)),
	"e2 e1 "+message("assistant", content(`{"type":"text","text":"first","textSignature":"s1"},{"type":"toolCall","id":"t1","name":"write","arguments":{"text":"long"},"thoughtSignature":"s2"}`)),
	"e3 e2 "+message("toolResult", `"toolCallId":"t1","toolName":"write","content":[{"type":"text","text":"written"}]`),
	"e4 e3 "+message("bashExecution", `"command":"ls","output":"a","exitCode":0`),
	"e5 e4 "+message("user", `"content":"two"`), "e6 e5 "+message("assistant", text("second")))

// condensed is an edit of a conversation.
func condensed(t *testing.T, c *precis.Conversation, replace ...precis.Replacement) precis.Edit {
	t.Helper()
	e := precis.Edit{Kind: precis.KindCondensation, Replace: replace, Report: precis.EditReport{Rung: "digest"}}
	if err := e.Identify(c.Transcript); err != nil {
		t.Fatal(err)
	}
	c.Edits = append(c.Edits, e)
	return e
}

// drafts writes the entries for a view, and reads the session with them.
func drafts(t *testing.T, data string, c *precis.Conversation) (lines []string, again *precis.Conversation) {
	t.Helper()
	made, leaf, err := pi.Drafts(archive.Source{Data: []byte(data)}, c)
	if err != nil {
		t.Fatal(err)
	}
	all := data
	for i, d := range made {
		raw, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			lines = append(lines, string(raw))
		}
		id := fmt.Sprint("d", i)
		all += fmt.Sprintf(`{"id":%q,"parentId":%q,"timestamp":"2026-01-01T00:01:00Z",%s`, id, leaf, raw[1:]) + "\n"
		leaf = id
	}
	return lines, read(t, all).Conversation
}

func whole(from, to int, with ...string) precis.Replacement {
	r := precis.Replacement{From: from, To: to}
	for _, w := range with {
		r.With = append(r.With, precis.NewText(precis.RoleUser, w))
	}
	return r
}

// The beginning of a view becomes a compaction, and later shortened messages become context edits.
// Reading the session then gives the same view.
func TestDrafts(t *testing.T) {
	shorter := precis.ToolUse{ID: "t1", Name: "write", Input: []byte(`{"text":"l"}`)}
	for name, tt := range map[string]struct {
		edit func(*precis.Transcript) []precis.Replacement
		want []string
	}{
		"a digest": {func(*precis.Transcript) []precis.Replacement { return []precis.Replacement{whole(0, 4, "Digest.")} },
			[]string{`{"type":"compaction","summary":"Digest.","firstKeptEntryId":"e5"}`}},
		"behind a message that stays": {func(*precis.Transcript) []precis.Replacement { return []precis.Replacement{whole(1, 5, "Digest.")} },
			[]string{`{"type":"compaction","summary":"[m0, word for word:]\none\n\nDigest.","firstKeptEntryId":"e6"}`}},
		"around a call that stays": {func(*precis.Transcript) []precis.Replacement {
			return []precis.Replacement{whole(0, 1, "Digest.", "In force."), whole(3, 5, "See above.")}
		}, []string{`{"type":"compaction","summary":"Digest.\n\nIn force.\n\n[m1, word for word:]\nfirst\n[call of write] {\"text\":\"long\"}\n\n[m2, word for word:]\n[result] written\n\nSee above.","firstKeptEntryId":"e6"}`}},
		"a shorter result": {func(c *precis.Transcript) []precis.Replacement {
			return []precis.Replacement{precis.ReplaceBlock(c, 2, 0, precis.ToolResult{ToolUseID: "t1", Content: []precis.Block{precis.Text{Text: "w"}}})}
		}, []string{`{"type":"context_edit","targetId":"e3","replacement":{"content":[{"text":"w","type":"text"}]}}`}},
		"a shorter call": {func(c *precis.Transcript) []precis.Replacement {
			return []precis.Replacement{precis.ReplaceBlock(c, 1, 1, shorter)}
		}, []string{`{"type":"context_edit","targetId":"e2","replacement":{"content":[{"text":"first","textSignature":"s1","type":"text"},{"arguments":{"text":"l"},"id":"t1","name":"write","thoughtSignature":"s2","type":"toolCall"}]}}`}},
		"a picture that stays": {func(c *precis.Transcript) []precis.Replacement {
			return []precis.Replacement{precis.ReplaceBlock(c, 0, 0, precis.Text{Text: "o"})}
		}, []string{`{"type":"context_edit","targetId":"e1","replacement":{"content":[{"text":"o","type":"text"},{"data":"AA","mimeType":"image/png","type":"image"}]}}`}},
		"a message alone": {func(*precis.Transcript) []precis.Replacement { return []precis.Replacement{whole(4, 5, "2")} },
			[]string{`{"type":"context_edit","targetId":"e5","replacement":{"content":[{"text":"2","type":"text"}]}}`}},
		"a command of the user's": {func(c *precis.Transcript) []precis.Replacement {
			return []precis.Replacement{precis.ReplaceBlock(c, 3, 0, precis.Text{Text: "ls"})}
		}, nil},
	} {
		c := read(t, kept).Conversation
		condensed(t, c, tt.edit(c.Transcript)...)
		lines, got := drafts(t, kept, c)
		if strings.Join(lines, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%s: the entries are\n%s\nwant\n%s", name, strings.Join(lines, "\n"), strings.Join(tt.want, "\n"))
		}
		if is, want := show(precis.View(got.Transcript, got.Edits)), show(precis.View(c.Transcript, c.Edits)); is != want || len(got.Edits) != len(c.Edits) {
			t.Errorf("%s: it is read as\n%s\nwant\n%s", name, is, want)
		}
	}
}

// Undone edits are shown again: messages by a compaction that keeps them, blocks in their original
// form.
func TestDraftsOfAnUndo(t *testing.T) {
	c := read(t, kept).Conversation
	e := condensed(t, c, whole(0, 4, "Digest."), precis.ReplaceBlock(c.Transcript, 4, 0, precis.Text{Text: "2"}))
	made, leaf, err := pi.Drafts(archive.Source{Data: []byte(kept)}, c)
	if err != nil || len(made) != 3 || leaf != "e6" {
		t.Fatal(made, leaf, err)
	}
	data := kept
	for i, d := range made {
		raw, _ := json.Marshal(d)
		data += fmt.Sprintf(`{"id":"d%d","parentId":%q,"timestamp":"2026-01-01T00:01:00Z",%s`, i, leaf, raw[1:]) + "\n"
		leaf = fmt.Sprint("d", i)
	}
	c = read(t, data).Conversation
	undo := precis.Edit{Kind: precis.KindUndo, Undoes: []string{e.ID}}
	if err := undo.Identify(c.Transcript); err != nil {
		t.Fatal(err)
	}
	c.Edits = append(c.Edits, undo)
	lines, got := drafts(t, data, c)
	want := []string{
		`{"type":"compaction","summary":"[precis: the compaction before this one is taken back. What it hid follows.]","firstKeptEntryId":"e1"}`,
		`{"type":"context_edit","targetId":"e5","replacement":{"content":[{"text":"two","type":"text"}]}}`,
	}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("the entries are\n%s", strings.Join(lines, "\n"))
	}
	if len(precis.Active(got.Edits)) != 0 || len(got.Edits) != 2 {
		t.Errorf("the edits are %v", got.Edits)
	}
}

// If edits of precis were made on another transcript or some of their entries are missing, pi's
// entries are read instead.
func TestEditsThatDoNotFit(t *testing.T) {
	c := read(t, kept).Conversation
	condensed(t, c, whole(0, 3, "Digest."))
	made, _, err := pi.Drafts(archive.Source{Data: []byte(kept)}, c)
	if err != nil {
		t.Fatal(err)
	}
	own, _ := json.Marshal(made[0])
	compaction, _ := json.Marshal(made[1])
	line := func(id, parent string, raw []byte) string {
		return fmt.Sprintf(`{"id":%q,"parentId":%q,"timestamp":"2026-01-01T00:01:00Z",%s`, id, parent, raw[1:]) + "\n"
	}
	const rest = "u:[Ran `ls`\n```\na\n```] u:[two] a:[second]"
	for name, tt := range map[string]struct{ data, view string }{
		"all are there":      {kept + line("d0", "e6", own) + line("d1", "d0", compaction), "u:[Digest.] " + rest},
		"one alone":          {kept + line("d0", "e6", own), ""},
		"something between":  {kept + line("d0", "e6", own) + line("d2", "d0", []byte(`{"type":"label","targetId":"e1"}`)) + line("d1", "d2", compaction), "u:[Digest.] " + rest},
		"on something else":  {strings.Replace(kept, "second", "another", 1) + line("d0", "e6", own) + line("d1", "d0", compaction), "u:[Digest.] " + strings.Replace(rest, "second", "another", 1)},
		"it is not readable": {kept + line("d0", "e6", []byte(`{"type":"custom","customType":"precis","data":7}`)) + line("d1", "d0", compaction), "u:[Digest.] " + rest},
		"of another program": {kept + line("d0", "e6", []byte(strings.Replace(string(own), `"precis"`, `"other"`, 1))) + line("d1", "d0", compaction), "u:[Digest.] " + rest},
	} {
		got := read(t, tt.data).Conversation
		if tt.view == "" {
			tt.view = show(got.Transcript.Messages())
		}
		if is := show(precis.View(got.Transcript, got.Edits)); is != tt.view {
			t.Errorf("%s: the view is\n%s\nwant\n%s", name, is, tt.view)
		}
	}
	if _, _, err := pi.Drafts(archive.Source{Data: []byte(compacted)}, c); precis.CodeOf(err) != precis.CodeConflict {
		t.Errorf("of another session: %v", err)
	}
}

// A later compaction is read, though it keeps more than one of precis that was taken back.
func TestCompactionBehindAnUndo(t *testing.T) {
	c := read(t, kept).Conversation
	e := condensed(t, c, whole(0, 5, "Digest."))
	undo := precis.Edit{Kind: precis.KindUndo, Undoes: []string{e.ID}}
	if err := undo.Identify(c.Transcript); err != nil {
		t.Fatal(err)
	}
	own, _ := json.Marshal(map[string]any{"type": "custom", "customType": "precis", "data": map[string]any{"entries": 0, "edits": []precis.Edit{e, undo}}})
	data := kept + `{"id":"d0","parentId":"e6",` + string(own[1:]) + "\n" + `{"id":"d1","parentId":"d0","type":"compaction","summary":"Summary.","firstKeptEntryId":"e4"}` + "\n"
	got := read(t, data)
	if is := show(precis.View(got.Conversation.Transcript, got.Conversation.Edits)); !strings.HasPrefix(is, "u:[Summary.] u:[Ran") {
		t.Errorf("the view is %s (%v)", is, got.Warnings)
	}
}
