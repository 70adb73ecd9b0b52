package archive_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/formats"
)

const recording = `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]}`

func container(t *testing.T) []byte {
	t.Helper()
	c := archive.NewContainer("plain", "dir/x.json", []byte(recording))
	rec, err := archive.Read(archive.Source{Path: "x.json", Data: []byte(recording)}, formats.All())
	if err != nil {
		t.Fatal(err)
	}
	e := precis.Edit{Kind: precis.KindTruncation, Replace: []precis.Replacement{{From: 1, To: 2}}}
	if err := e.Identify(rec.Conversation.Transcript); err != nil {
		t.Fatal(err)
	}
	c.Edits = []precis.Edit{e}
	data, err := c.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestContainerHoldsTheOriginal(t *testing.T) {
	data := container(t)
	if !bytes.HasSuffix(data, []byte("\n"+recording)) {
		t.Errorf("the original does not end the file: %s", data)
	}
	rec, err := archive.Read(archive.Source{Path: "y.precis", Data: data}, formats.All())
	if err != nil {
		t.Fatal(err)
	}
	if view := precis.View(rec.Conversation.Transcript, rec.Conversation.Edits); len(view) != 2 || rec.Format != "plain" {
		t.Errorf("%d messages, format %s", len(view), rec.Format)
	}
}

func TestDamagedContainersAreRefused(t *testing.T) {
	good := string(container(t))
	for name, tt := range map[string]struct{ data, want string }{
		"cut off":        {good[:len(good)-5], "cut off or changed"},
		"changed":        {strings.Replace(good, `"content":"b"`, `"content":"B"`, 1), "SHA-256 differs"},
		"head alone":     {strings.SplitN(good, "\n", 2)[0], "ends in its first line"},
		"head malformed": {`{"precis":` + "\n", "line 1"},
		"newer":          {strings.Replace(good, `{"precis":1,`, `{"precis":2,`, 1), "newer precis"},
		"many edits":     {strings.Replace(good, `"edits":[`, `"edits":[`+strings.Repeat(`{"id":"x"},`, archive.MaxEdits), 1), "20001 edits are more than the 20000 that are read"},
		"unknown format": {strings.Replace(good, `"format":"plain"`, `"format":"clay"`, 1), "unknown format"},
	} {
		_, err := archive.Read(archive.Source{Path: "y.precis", Data: []byte(tt.data)}, formats.All())
		if precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "y.precis") {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// TestEditsThatDoNotFitAreLeftOut reads files that two programs wrote at once.
func TestEditsThatDoNotFitAreLeftOut(t *testing.T) {
	good := string(container(t))
	edit := good[strings.Index(good, `"edits":[`)+len(`"edits":[`) : strings.Index(good, "]}\n")]
	for name, tt := range map[string]struct {
		data, want string
		shown      int
	}{
		"outside": {strings.Replace(good, `"to":2`, `"to":9`, 1), "outside the 3 messages", 3},
		"twice":   {strings.Replace(good, edit, edit+","+edit, 1), "there is an edit", 2},
	} {
		rec, err := archive.Read(archive.Source{Path: "y.precis", Data: []byte(tt.data)}, formats.All())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if n := len(precis.View(rec.Conversation.Transcript, rec.Conversation.Edits)); n != tt.shown {
			t.Errorf("%s: %d messages are shown, want %d", name, n, tt.shown)
		}
		if len(rec.Warnings) != 1 || !strings.Contains(rec.Warnings[0].String(), tt.want) {
			t.Errorf("%s: warnings %v, want %q", name, rec.Warnings, tt.want)
		}
	}
}

// The work of reading a file follows the number of its edits.
func TestEditsAreReadInLinearWork(t *testing.T) {
	work := func(n int) uint64 {
		original := `{"messages":[` + strings.Repeat(`{"role":"user","content":"a"},`, n) + `{"role":"user","content":"end"}]}`
		c := archive.NewContainer("plain", "x.json", []byte(original))
		for i := range n {
			c.Edits = append(c.Edits, precis.Edit{ID: fmt.Sprint(i), Kind: precis.KindTruncation, Replace: []precis.Replacement{{From: i, To: i + 1}}})
		}
		data, err := c.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		rec, err := archive.Read(archive.Source{Path: "y.precis", Data: data}, formats.All())
		runtime.ReadMemStats(&after)
		if err != nil || len(rec.Conversation.Edits) != n {
			t.Fatal(len(rec.Conversation.Edits), err)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := work(500), work(2000); many > 8*few {
		t.Errorf("500 edits take %d bytes of memory, 2000 take %d", few, many)
	}
}

func TestNoMoreEditsAreWrittenThanAreRead(t *testing.T) {
	c := archive.NewContainer("plain", "x.json", []byte(recording))
	c.Edits = make([]precis.Edit, archive.MaxEdits+1)
	if _, err := c.Bytes(); precis.CodeOf(err) != precis.CodeInvalid {
		t.Errorf("%v", err)
	}
}

func TestByteOrderMarkIsPassedOver(t *testing.T) {
	rec, err := archive.Read(archive.Source{Path: "x.json", Data: []byte("\uFEFF" + recording)}, formats.All())
	if err != nil || rec.Conversation.Transcript.Len() != 3 {
		t.Errorf("%v", err)
	}
}

// Edits made when records after a fault were skipped still apply to the same messages.
func TestEditsOfRecordingsWithBrokenLines(t *testing.T) {
	line := func(i int) string {
		return fmt.Sprintf(`{"role":%q,"content":"message %d"}`, []string{"user", "assistant"}[i%2], i) + "\n"
	}
	data := []byte(line(0) + line(1) + `{"role":"us` + line(2) + line(3) + line(4))
	skipped := precis.NewTranscript(precis.NewText("user", "message 0"), precis.NewText("assistant", "message 1"), precis.NewText("assistant", "message 3"), precis.NewText("user", "message 4"))
	edits := map[string][]precis.Edit{
		"none":                    nil,
		"made without the record": {{ID: "a", Kind: precis.KindTruncation, Seen: 4, At: skipped.Fingerprint(4), Replace: []precis.Replacement{{From: 1, To: 3}}}},
	}
	for name, want := range map[string]int{"none": 5, "made without the record": 4} {
		c := archive.NewContainer("plain", "x.jsonl", data)
		c.Edits = edits[name]
		file, err := c.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		r, err := archive.Read(archive.Source{Path: "x.precis", Data: file}, formats.All())
		if err != nil || r.Conversation.Transcript.Len() != want || len(r.Conversation.Edits) != len(c.Edits) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}
