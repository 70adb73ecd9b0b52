// Package archivetest checks that a reader of recordings keeps the promises of
// [archive.Format]. Start with [Run], in a test of the reader's own.
//
//precis:testonly
package archivetest

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// Run runs the suite on samples, whole recordings of the format by file name. A
// format of lines, one whose samples are no single JSON document, may also leave
// out what is malformed.
func Run(t *testing.T, f archive.Format, samples map[string][]byte) {
	t.Helper()
	if len(samples) == 0 {
		t.Fatal("no samples")
	}
	for _, name := range slices.Sorted(maps.Keys(samples)) {
		s := sample{f: f, name: name, data: samples[name]}
		t.Run(name, func(t *testing.T) {
			t.Run("Detect", s.detect)
			t.Run("Read", s.read)
			t.Run("Edits", s.edits)
			t.Run("Truncated", s.truncated)
		})
	}
	t.Run("Foreign", func(t *testing.T) { checkForeign(t, f) })
}

type sample struct {
	f    archive.Format
	name string
	data []byte
}

func (s sample) open(data []byte) (*archive.Recording, error) {
	return archive.Read(archive.Source{Path: s.name, Data: data}, []archive.Format{s.f})
}

// must reads data and fails the test when that is an error.
func (s sample) must(t *testing.T, data []byte) *archive.Recording {
	t.Helper()
	r, err := s.open(data)
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	return r
}

func (s sample) detect(t *testing.T) {
	if s.f.Name() == "" {
		t.Error("the format has no name")
	}
	if !s.f.Detect(s.name, s.data) {
		t.Error("the format does not recognize its own sample")
	}
	if !s.f.Detect("", s.data) {
		t.Error("the format does not recognize its own sample without its name")
	}
}

func (s sample) read(t *testing.T) {
	before := slices.Clone(s.data)
	r := s.must(t, s.data)
	if !slices.Equal(before, s.data) {
		t.Error("Read changed the data")
	}
	again := s.must(t, slices.Clone(s.data))
	if a, b := fingerprints(r.Conversation), fingerprints(again.Conversation); !reflect.DeepEqual(a, b) {
		t.Errorf("two reads differ: %v and %v", a, b)
	}
	if err := Check(r); err != nil {
		t.Error(err)
	}
}

// fingerprints returns the fingerprints by which two readings are compared.
func fingerprints(c *precis.Conversation) []string {
	out := []string{c.ID, c.Title, c.Model, precis.HashMessage(c.System).String(), c.Transcript.Fingerprint(c.Transcript.Len()).String()}
	for _, e := range c.Edits {
		out = append(out, e.ID)
	}
	for _, b := range c.Branches {
		out = append(out, fingerprints(b)...)
	}
	return out
}

// edits checks that without edits the view is the transcript, and that each edit
// can be added in turn and undone.
func (s sample) edits(t *testing.T) {
	c := s.must(t, s.data).Conversation
	if v := precis.View(c.Transcript, nil); !reflect.DeepEqual(v, c.Transcript.Messages()) {
		t.Error("the view without edits is not the transcript")
	}
	for i, e := range c.Edits {
		prefix := c.Transcript.Prefix(e.Seen)
		if e.ID == "" || e.At != prefix.Fingerprint(e.Seen) {
			t.Errorf("edit %d is not identified with the transcript as it was", i)
		}
		if e.Report.Trigger != string(precis.TriggeredRecorded) {
			t.Errorf("edit %d: trigger is %q, want %q", i, e.Report.Trigger, precis.TriggeredRecorded)
		}
		if err := precis.CheckEdit(prefix, c.Edits[:i], e); err != nil {
			t.Errorf("edit %d: %v", i, err)
		}
	}
}

// truncated cuts the sample at some of its bytes. What is left is an error with
// a code, or a valid recording that says what it left out.
func (s sample) truncated(t *testing.T) {
	step := max(1, len(s.data)/400)
	document := jsonspan.Valid(s.data) == nil
	for n := 0; n < len(s.data); n += step {
		data := s.data[:n:n]
		r, err := s.open(data)
		if err != nil {
			if precis.CodeOf(err) != precis.CodeInvalid {
				t.Errorf("cut at byte %d: code %q of %v, want %q", n, precis.CodeOf(err), err, precis.CodeInvalid)
			}
			continue
		}
		if document && jsonspan.Valid(data) != nil {
			t.Errorf("cut at byte %d: half a document was read without an error", n)
		}
		if !document && r.Skipped == 0 && !wholeLines(data) {
			t.Errorf("cut at byte %d: a line was cut and nothing is noted", n)
		}
		if err := Check(r); err != nil {
			t.Errorf("cut at byte %d: %v", n, err)
		}
	}
}

// wholeLines reports whether the last line of data is a value or blank.
func wholeLines(data []byte) bool {
	var r archive.Recording
	for range archive.Lines(data, &r) {
		continue
	}
	return r.Skipped == 0
}

// Check returns an error when a recording is not what readers promise: no
// message is empty, no text blank, every tool use has an ID, and the view and
// those of all branches can be made valid.
func Check(r *archive.Recording) error {
	if r.Conversation == nil || r.Conversation.Transcript == nil {
		return errors.New("the recording has no conversation")
	}
	if len(r.Warnings) > archive.MaxWarnings {
		return fmt.Errorf("%d warnings, at most %d are wanted", len(r.Warnings), archive.MaxWarnings)
	}
	return check(r.Conversation)
}

func check(c *precis.Conversation) error {
	for i, m := range c.Transcript.Messages() {
		if err := checkMessage(m); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	view, _ := precis.Repair(precis.View(c.Transcript, c.Edits))
	if left := precis.Check(view); len(left) > 0 {
		return fmt.Errorf("the repaired view has %d breaches, the first: %v", len(left), left[0])
	}
	for i, b := range c.Branches {
		if b.Transcript.Len() == 0 {
			return fmt.Errorf("branch %d has no messages", i)
		}
		if err := check(b); err != nil {
			return fmt.Errorf("branch %d: %w", i, err)
		}
	}
	return nil
}

func checkMessage(m precis.Message) error {
	if len(m.Content) == 0 {
		return errors.New("no content")
	}
	for _, b := range m.Content {
		switch b := b.(type) {
		case precis.Text:
			if len(precis.Check([]precis.Message{{Role: precis.RoleUser, Content: []precis.Block{b}}})) > 0 {
				return errors.New("a text block is blank")
			}
		case precis.ToolUse:
			if b.ID == "" {
				return fmt.Errorf("a use of tool %q has no ID", b.Name)
			}
		case precis.ToolResult:
			if b.ToolUseID == "" && m.Format != "responses" { // such an item is the program's own
				return errors.New("a tool result has no ID")
			}
		}
	}
	return nil
}

// checkForeign checks that the format leaves alone what is no conversation.
func checkForeign(t *testing.T, f archive.Format) {
	for _, data := range []string{
		``, ` `, `null`, `0`, `"text"`, `{}`, `[]`, `[1,2,3]`, `{"a":1}` + "\n" + `{"b":2}`, `[{"id":1}]`, `{"messages":"hello"}`,
		`{"messages":[]}`, `{"messages":[{"text":"hello"}]}`, `{"name":"package","version":"1.0.0"}`, `{"type":"message"}`,
		`{"input":"a text to embed","model":"text-embedding"}`, `{"level":"info","message":"started","timestamp":"2026-01-01T00:00:00Z"}`,
		"# Notes\n\nPlain text.", "\x00\x01\x02", `[{"ts":1,"type":"say","text":"hi"}]`,
	} {
		if f.Detect("file", []byte(data)) {
			t.Errorf("Detect(%q) is true", data)
		}
	}
}

// Fuzz is the body of a reader's fuzz target: reading any bytes gives a sound
// recording or an error of code invalid.
func Fuzz(f *testing.F, format archive.Format, samples map[string][]byte) {
	for _, name := range slices.Sorted(maps.Keys(samples)) {
		f.Add(samples[name])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		format.Detect("file", data)
		r, err := format.Read(archive.Source{Data: data})
		if err == nil {
			err = Check(r)
		} else if precis.CodeOf(err) == precis.CodeInvalid {
			return
		}
		if err != nil {
			t.Error(err)
		}
	})
}
