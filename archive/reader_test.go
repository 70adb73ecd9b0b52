package archive_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/formats"
)

func TestLines(t *testing.T) {
	data := "{\"a\":1}\n\n// note\n{\"a\":2} {\"a\":3}\r\n{\"a\":4}5\n{\"a\":"
	var r archive.Recording
	var got []string
	for l := range archive.Lines([]byte(data), &r) {
		got = append(got, fmt.Sprint(l.Number, " ", l.Offset, " ", string(l.Raw)))
	}
	if want := []string{`1 0 {"a":1}`, `4 17 {"a":2}`, `4 25 {"a":3}`, `5 34 {"a":4}`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if r.Skipped != 3 || len(r.Warnings) != 4 || r.Warnings[1].String() != "line 4: 2 objects in one line" {
		t.Errorf("skipped %d, warnings %v", r.Skipped, r.Warnings)
	}
}

// A record is read after any other text in its line, and numbers invalid in JSON become null.
func TestLinesWithSomethingBroken(t *testing.T) {
	const sound = `{"type":"user","uuid":"1","message":{"type":"text","text":"hi"}}` + "\n"
	for broken, want := range map[string]string{
		`{"type":"user","uuid":"2","mess` + `{"type":"user","uuid":"3","message":{}}`: `{"type":"user","uuid":"3","message":{}}`,
		"\x00\x00\x00" + `{"type":"user","uuid":"3"}`:                                 `{"type":"user","uuid":"3"}`,
		`2026-01-02 warn: slow disk {"type":"user","uuid":"3"}`:                       `{"type":"user","uuid":"3"}`,
		`{"type":"user","uuid":"2"}{"type":"us{"type":"user","uuid":"3"}`:             `{"type":"user","uuid":"2"} {"type":"user","uuid":"3"}`,
		"\x1e" + `{"type":"user","uuid":"3"}`:                                         `{"type":"user","uuid":"3"}`,
		`{"type":"user","uuid":"3","cost":NaN,"most":-Infinity,"say":"NaN"}`:          `{"type":"user","uuid":"3","cost":null,"most":null,"say":"NaN"}`,
		`{"type":"user","uuid":"3","key":"\***"}`:                                     `{"type":"user","uuid":"3","key":"\\***"}`,
		`{"type":"user","uuid":"3","message":{"type":"text","text":"cut"}`:            "", // what it holds is no record
		`{"type":"user","uuid":"3","message":{"type":"text","text":"NaN`:              "",
	} {
		var r archive.Recording
		var got []string
		for l := range archive.Lines([]byte(sound+broken+"\n"+sound), &r) {
			if l.Number == 2 {
				got = append(got, string(l.Raw))
			}
		}
		if text := strings.Join(got, " "); text != want || (len(r.Warnings) == 0) != (broken[0] == '\x1e') {
			t.Errorf("%q is read as %q, want %q; %v", broken, text, want, r.Warnings)
		}
	}
	var r archive.Recording
	n := 0
	for range archive.Lines([]byte(sound+strings.Repeat(`{"type":`, 100_000)), &r) { // in time that does not grow with its square
		n++
	}
	if n != 1 {
		t.Errorf("%d records", n)
	}
}

// Records that stand in a list, or on several lines, are read as lines; a document with numbers that JSON does not know is read.
func TestJSONThatProgramsWrite(t *testing.T) {
	line := `{"type":"user","uuid":"%d","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"word %d"}}`
	one, two := fmt.Sprintf(line, 1, 1), strings.Replace(fmt.Sprintf(line, 2, 2), "null", `"1"`, 1)
	pretty := strings.NewReplacer(`{"`, "{\n  \"", `,"`, ",\n  \"").Replace(one + "\n" + two)
	for name, text := range map[string]string{
		"lines": one + "\n" + two, "list": "[" + one + ",\n" + two + "]", "pretty": pretty, "document": `{"messages":[{"role":"user","content":"word 1"},{"role":"user","content":"word 2","logprob":NaN}]}`,
	} {
		rec, err := archive.Read(archive.Source{Path: "x.json", Data: []byte(text)}, formats.All())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		said := ""
		for _, m := range rec.Conversation.Transcript.Messages() {
			said += m.PlainText() + ";"
		}
		if said != "word 1;word 2;" {
			t.Errorf("%s: %q", name, said)
		}
	}
}

func TestTree(t *testing.T) {
	// 0─1─2─5   and 3 (never answered), 4 (another path), 6 (another root)
	var tree archive.Tree
	for i, n := range []struct {
		parent int
		spoken bool
	}{{-1, false}, {0, true}, {1, false}, {1, false}, {1, true}, {2, true}, {-1, true}} {
		tree.Add(n.parent, i, n.spoken)
	}
	path := tree.Path(2)
	if want := []int{0, 1, 2, 5}; !slices.Equal(path, want) {
		t.Errorf("path is %v, want %v", path, want)
	}
	paths, unsent, more := tree.Branches(path, 2)
	if fmt.Sprint(paths, unsent, more) != "[[0 1 4] [6]] 1 false" {
		t.Errorf("branches are %v, %d unsent, more %v", paths, unsent, more)
	}
	if paths, _, more = tree.Branches(path, 1); len(paths) != 1 || !more {
		t.Errorf("with a limit: %v, more %v", paths, more)
	}
	if n := archive.ForkPoint([]int{0, 1, 4}, path); n != 4 {
		t.Errorf("the fork is at %d, want 4", n)
	}
}

func TestCondensed(t *testing.T) {
	c := &precis.Conversation{Transcript: precis.NewTranscript(precis.NewText(precis.RoleUser, "a"), precis.NewText(precis.RoleAssistant, "b"))}
	with := []precis.Message{precis.NewText(precis.RoleUser, "sum")}
	for _, s := range []struct {
		to int
		ok bool
	}{{3, false}, {0, false}, {2, true}, {1, false}, {2, false}} { // the last is recorded already
		err := archive.RecordCondensation(c, s.to, with, time.Unix(1, 0), precis.EditReport{TokensBefore: 5})
		if (err == nil) != s.ok || err != nil && precis.CodeOf(err) != precis.CodeConflict {
			t.Errorf("to %d: %v", s.to, err)
		}
	}
	if len(c.Edits) != 1 || len(precis.View(c.Transcript, c.Edits)) != 1 {
		t.Errorf("edits are %v", c.Edits)
	}
}

func TestCallNames(t *testing.T) {
	use, result := precis.ToolUse{Name: "f"}, precis.ToolResult{}
	m := func(blocks ...precis.Block) precis.Message { return precis.Message{Content: blocks, Raw: []byte("{}")} }
	var names archive.CallIDs
	var got []string
	for _, m := range []precis.Message{m(use, use), m(result), m(result), m(result), m(precis.ToolUse{ID: "own"})} {
		m = names.Assign(m)
		for _, b := range m.Content {
			switch b := b.(type) {
			case precis.ToolUse:
				got = append(got, "<"+b.ID)
			case precis.ToolResult:
				got = append(got, ">"+b.ToolUseID)
			}
		}
		if named := m.Raw == nil; named == (got[len(got)-1] == "<own") {
			t.Errorf("%v keeps its bytes: %v", got, !named)
		}
	}
	want := []string{"<precis_call_1", "<precis_call_2", ">precis_call_1", ">precis_call_2", ">precis_call_3", "<own"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestWithoutBlank(t *testing.T) {
	m := precis.Message{Raw: []byte("{}"), Content: []precis.Block{precis.Text{Text: "a"}}}
	if got := archive.WithoutBlank(m); got.Raw == nil || len(got.Content) != 1 {
		t.Errorf("a message without blank text was changed: %v", got)
	}
	m.Content = append(m.Content, precis.Text{Text: " \n"})
	if got := archive.WithoutBlank(m); got.Raw != nil || len(got.Content) != 1 {
		t.Errorf("blank text stays: %v", got)
	}
}
