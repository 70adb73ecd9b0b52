package sessions_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/formats"
	"github.com/precis-dev/precis/sessions"
)

// contained returns precis's own file of a recording of 12 messages, in lines or as one
// document, with an edit that hides m2 and one that hides m8.
func contained(t *testing.T, document bool) []byte {
	t.Helper()
	var lines []string
	for n := range 6 {
		lines = append(lines, `{"role":"user","content":"question `+string(rune('A'+n))+`"}`, `{"role":"assistant","content":"answer `+string(rune('A'+n))+`"}`)
	}
	original, name := strings.Join(lines, "\n")+"\n", "run.jsonl"
	if document {
		original, name = `{"model":"m","messages":[`+strings.Join(lines, ", ")+`]}`, "run.json"
	}
	r, err := archive.Read(archive.Source{Path: name, Data: []byte(original)}, formats.All())
	if err != nil {
		t.Fatal(err)
	}
	c := archive.NewContainer(r.Format, name, []byte(original))
	for _, at := range []int{2, 8} {
		e := precis.Edit{Kind: precis.KindPruning, Replace: []precis.Replacement{{From: at, To: at + 1, With: []precis.Message{precis.NewText(precis.RoleUser, "[hidden]")}}}}
		if err := e.Identify(r.Conversation.Transcript.Prefix(at + 1)); err != nil {
			t.Fatal(err)
		}
		c.Edits = append(c.Edits, e)
	}
	data, err := c.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if r, err := archive.Read(archive.Source{Path: "run.precis", Data: data}, formats.All()); err != nil || len(r.Conversation.Edits) != 2 {
		t.Fatalf("%v %v", r, err)
	}
	return data
}

func TestWhatIsWholeOfAContainerIsKept(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name            string
		damage          func(s string) string
		messages, edits int
		says            string
	}{
		{"whole", func(s string) string { return s }, 12, 2, ""},
		{"cut off", func(s string) string { return s[:strings.Index(s, "question E")+4] }, 8, 1, "cut off"},
		{"a byte of the text changed", func(s string) string { return strings.Replace(s, "answer B", "answer X", 1) }, 12, 1, "nothing tells where"},
		{"a byte of the form changed", func(s string) string { return strings.Replace(s, `"content":"answer B`, `"content"}"answer B`, 1) }, 11, 1, "a message of the assistant"},
		{"another checksum", func(s string) string { return strings.Replace(s, `"sha256":"`, `"sha256":"0`, 1) }, 12, 2, "checksum"},
		{"the first line damaged", func(s string) string { return strings.Replace(s, `"size":`, `"size";`, 1) }, 12, 0, "the first line with the edits"},
	}
	for _, document := range []bool{false, true} {
		data := contained(t, document)
		for _, tt := range tests {
			name := tt.name
			if document {
				name += ", one document"
			}
			t.Run(name, func(t *testing.T) {
				s, err := sessions.Salvage("run.precis", []byte(tt.damage(string(data))))
				if err != nil {
					t.Fatal(err)
				}
				if s.Messages != tt.messages || s.Edits != tt.edits || (len(s.Lost) == 0) != (tt.says == "") || !strings.Contains(strings.Join(s.Lost, "\n"), tt.says) {
					t.Errorf("%d messages, %d edits, lost %q", s.Messages, s.Edits, s.Lost)
				}
				r, err := archive.Read(archive.Source{Path: "fixed.precis", Data: s.Data}, formats.All())
				if err != nil || r.Conversation.Transcript.Len() != tt.messages || len(r.Conversation.Edits) != tt.edits {
					t.Errorf("what was mended: %v %v", r, err)
				}
				if tt.says == "" && !bytes.Equal(s.Data, data) {
					t.Error("a whole file is changed")
				}
			})
		}
	}
}

// A real recording, cut or changed anywhere, yields the content before the damage.
func TestAnyDamageOfAContainerIsSurvived(t *testing.T) {
	t.Parallel()
	original, err := os.ReadFile("../examples/add-a-counter.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	r, err := archive.Read(archive.Source{Path: "add-a-counter.jsonl", Data: original}, formats.All())
	if err != nil {
		t.Fatal(err)
	}
	data, err := archive.NewContainer(r.Format, "add-a-counter.jsonl", original).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	all, head := r.Conversation.Transcript.Len(), bytes.IndexByte(data, '\n')+1
	for n := range 20 {
		at := head + (len(data)-head)*(n+1)/21
		s, err := sessions.Salvage("a.precis", data[:at])
		if n > 4 && (err != nil || s.Messages < all*n/40) {
			t.Errorf("cut after %d of %d bytes: %+v %v", at, len(data), s, err)
		}
		damaged := bytes.Clone(data)
		damaged[at] ^= 0x15
		s, err = sessions.Salvage("a.precis", damaged)
		if err != nil || s.Messages < all-3 || len(s.Lost) == 0 {
			t.Errorf("byte %d changed: %v %v", at, s, err)
		}
	}
}

func TestNothingWholeOfAContainerIsAnError(t *testing.T) {
	t.Parallel()
	data := contained(t, false)
	for _, s := range [][]byte{nil, data[:20], data[:bytes.IndexByte(data, '\n')+1], []byte("{\"precis\":1}\n\x00\x00\x00")} {
		if _, err := sessions.Salvage("a.precis", s); precis.CodeOf(err) != precis.CodeInvalid {
			t.Errorf("%.40q: %v", s, err)
		}
	}
}
