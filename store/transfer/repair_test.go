//go:build unix

package transfer_test

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/memory"
	"github.com/precis-dev/precis/store/transfer"
)

// exported is an export of a gateway: 2 conversations of one owner that share their first two messages, 26
// messages, 3 edits.
func exported(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile("../../gateway/testdata/plain-ids.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(strings.TrimRight(string(data), "\n"), "\n")
}

// mend repairs an export, imports what it made into an empty store, and returns that.
func mend(t *testing.T, r io.Reader) (transfer.Mended, precis.Store) {
	t.Helper()
	var out bytes.Buffer
	m, err := transfer.Repair(r, &out, time.Unix(1e9, 0).UTC())
	if err != nil {
		t.Fatal(err)
	}
	st := memory.New()
	t.Cleanup(func() { _ = st.Close() })
	got, err := transfer.Import(t.Context(), bytes.NewReader(out.Bytes()), st)
	if err != nil {
		t.Fatalf("what was mended cannot be imported: %v", err)
	}
	if got != m.Kept {
		t.Errorf("kept %+v, imported %+v", m.Kept, got)
	}
	return m, st
}

// find returns the line numbers that contain a text.
func find(lines []string, text string) (at []int) {
	for i, l := range lines {
		if strings.Contains(l, text) {
			at = append(at, i)
		}
	}
	return at
}

func TestAWholeExportLosesNothing(t *testing.T) {
	t.Parallel()
	all := strings.Join(exported(t), "") + "\n"
	var out bytes.Buffer
	m, err := transfer.Repair(strings.NewReader(all), &out, time.Now())
	if err != nil || len(m.Lost) > 0 || sum.ReplaceAllString(out.String(), "") != all {
		t.Errorf("%+v %v", m, err)
	}
	summed := out.String()
	out.Reset()
	if m, err := transfer.Repair(strings.NewReader(summed), &out, time.Now()); err != nil || len(m.Lost) > 0 || out.String() != summed {
		t.Errorf("with sums: %+v %v", m, err)
	}
}

// summed is the same export with sums.
func summed(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := transfer.Repair(strings.NewReader(strings.Join(exported(t), "")), &out, time.Now()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Wherever a byte of an export is changed, reading it is refused.
func TestEveryByteCounts(t *testing.T) {
	t.Parallel()
	text := summed(t)
	for at := 1; at < len(text); at += 701 {
		if text[at] == '\n' {
			continue
		}
		damaged := []byte(text)
		damaged[at] ^= 4
		if _, err := transfer.Import(t.Context(), bytes.NewReader(damaged), memory.New()); precis.CodeOf(err) != precis.CodeInvalid {
			t.Errorf("byte %d is %q, was %q: %v", at, damaged[at], text[at], err)
		}
	}
}

// What the node of a message does not vouch for is vouched for by the sum of its line.
func TestTheBytesOfAMessageMayBeLostAlone(t *testing.T) {
	t.Parallel()
	lines := strings.SplitAfter(summed(t), "\n")
	at, edit := find(lines, `{"message":`)[5], find(lines, `{"edit":`)[0]
	whole := lines[at]
	lines[at] = strings.Replace(whole, `"raw":"{`, `"raw":"[`, 1)
	if lines[at] == whole {
		t.Fatal("the message has no bytes")
	}
	m, st := mend(t, strings.NewReader(strings.Join(lines, "")))
	if m.Kept.Messages != 26 || m.Kept.Edits != 3 || len(m.Lost) != 1 || !strings.Contains(m.Lost[0].What, "what it says is whole") {
		t.Errorf("%+v", m)
	}
	s := st.(store.Scoper).Scope("key-alice")
	without := 0
	for _, c := range m.Conversations {
		rec, err := s.(store.Lister).Conversation(t.Context(), c.ID)
		if err != nil {
			t.Fatal(err)
		}
		tr, _, err := s.Load(t.Context(), rec.Head)
		if err != nil {
			t.Fatal(err)
		}
		for _, msg := range tr.Messages() {
			if msg.Raw == nil {
				without++
			}
		}
	}
	if without != 1 {
		t.Errorf("%d messages are without the bytes as which they came", without)
	}

	lines[at] = whole
	lines[edit] = strings.Replace(lines[edit], `"kind":"`, `"Kind":"`, 1)
	if m, _ := mend(t, strings.NewReader(strings.Join(lines, ""))); m.Kept.Messages != 26 || !strings.Contains(m.Lost[0].What, "an edit: its content is not what was stored") {
		t.Errorf("%+v", m)
	}
}

func TestWhatIsWholeOfAnExportIsKept(t *testing.T) {
	t.Parallel()
	lines := exported(t)
	messages, edits := find(lines, `{"message":`), find(lines, `{"edit":`)
	records, scopes := find(lines, `{"record":`), find(lines, `{"scope":`)
	tests := []struct {
		name                          string
		damage                        func(l []string) string
		conversations, messages, lost int // kept; lines lost
		edits                         int
		says                          string
	}{
		{"cut within the last line", func(l []string) string { s := strings.Join(l, ""); return s[:len(s)-5] }, 2, 26, 1, 3, "counts at the end"},
		{"cut before the records", func(l []string) string { return strings.Join(l[:records[0]], "") }, 2, 26, 1, 3, "cut off"},
		{"cut within a message", func(l []string) string { return strings.Join(l[:messages[10]], "") + l[messages[10]][:50] }, 2, 10, 2, 0, "a message after"},
		{"a byte of a message changed", func(l []string) string {
			l[messages[5]] = strings.ReplaceAll(l[messages[5]], "setting_", "settinG_")
			return strings.Join(l, "")
		}, 2, 25, 4, 0, "its content is not what was stored"},
		{"a message that is no JSON any more", func(l []string) string {
			l[messages[5]] = strings.Replace(l[messages[5]], `":`, `"\x00`, 3)
			return strings.Join(l, "")
		}, 2, 25, 4, 0, "a message after"},
		{"an unknown line", func(l []string) string { l[edits[0]] += "{\"shape\":1}\n"; return strings.Join(l, "") }, 2, 26, 1, 3, "unknown kind"},
		{"an edit that is no JSON any more", func(l []string) string { l[edits[0]] = l[edits[0]][:40] + "\n"; return strings.Join(l, "") }, 2, 26, 3, 0, "an edit"},
		{"a record that is no JSON any more", func(l []string) string { l[records[0]] = l[records[0]][:40] + "\n"; return strings.Join(l, "") }, 2, 26, 1, 3, "what a conversation is"},
		{"the head is gone", func(l []string) string { return strings.Join(l[1:], "") }, 2, 26, 0, 3, ""},
		{"a scope that is no JSON any more", func(l []string) string { l[scopes[0]] = "\x00\x00\x00\n"; return strings.Join(l, "") }, 2, 26, 1, 3, "recovered-1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, st := mend(t, strings.NewReader(tt.damage(append([]string{}, lines...))))
			if m.Kept.Conversations != tt.conversations || m.Kept.Messages != tt.messages || m.Kept.Edits != tt.edits || len(m.Lost) != tt.lost {
				t.Errorf("%+v", m)
			}
			said := ""
			for _, l := range m.Lost {
				said += l.What + "\n"
			}
			if !strings.Contains(said, tt.says) {
				t.Errorf("it says %s", said)
			}
			owner := "key-alice"
			if tt.says == "recovered-1" { // whose it is cannot be told: it is nobody's who is there
				if all, err := st.(store.Scoper).Scope(owner).(store.Lister).Conversations(t.Context(), store.Query{}); err != nil || len(all) > 0 {
					t.Errorf("alice has %d conversations %v", len(all), err)
				}
				owner = tt.says
			}
			s := st.(store.Scoper).Scope(owner)
			sum, lost := 0, 0
			for _, c := range m.Conversations {
				rec, err := s.(store.Lister).Conversation(t.Context(), c.ID)
				if err != nil {
					t.Fatal(err)
				}
				tr, _, err := s.Load(t.Context(), rec.Head)
				if err != nil || tr.Len() != c.Messages {
					t.Errorf("%s: %d messages of %d %v", c.ID, tr.Len(), c.Messages, err)
				}
				sum, lost = sum+tr.Len(), lost+c.Lost
			}
			if gone := len(messages) - m.Kept.Messages; gone == 1 && lost != 1 {
				t.Errorf("%d messages are said to be lost", lost)
			}
			if m.Kept.Conversations == 2 && sum != m.Kept.Messages+2 { // the first two belong to both
				t.Errorf("%d messages are reached", sum)
			}
		})
	}
}

// Wherever a byte is changed or the file ends, what comes back can be imported, and no line
// is lost but those that are damaged or rest on one.
func TestAnyDamageIsSurvived(t *testing.T) {
	t.Parallel()
	all := strings.Join(exported(t), "") + "\n"
	step := 397
	if testing.Short() {
		step = 997
	}
	for at := 60; at < len(all)-1; at += step {
		m, _ := mend(t, strings.NewReader(all[:at]+"\x01"+all[at+1:]))
		if m.Kept.Messages < 25 || len(m.Lost) == 0 && all[at] != '\n' {
			t.Errorf("byte %d: %+v", at, m)
		}
		if at < 1500 { // nothing is whole before the first message
			continue
		}
		if m, _ := mend(t, strings.NewReader(all[:at])); len(m.Lost) == 0 {
			t.Errorf("cut at %d: %+v", at, m)
		}
	}
}

func TestNothingWholeIsAnError(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "{", exported(t)[0], "what\nis\nthis\n"} {
		if _, err := transfer.Repair(strings.NewReader(s), io.Discard, time.Now()); precis.CodeOf(err) != precis.CodeInvalid {
			t.Errorf("%.20q: %v", s, err)
		}
	}
}
