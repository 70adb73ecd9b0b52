package archive_test

import (
	"bytes"
	"strings"
	"testing"

	"precis"
	"precis/archive"
	"precis/archive/formats"
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
		"unknown format": {strings.Replace(good, `"format":"plain"`, `"format":"clay"`, 1), "unknown format"},
		"edit outside":   {strings.Replace(good, `"to":2`, `"to":9`, 1), "outside the 3 messages"},
	} {
		_, err := archive.Read(archive.Source{Path: "y.precis", Data: []byte(tt.data)}, formats.All())
		if precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "y.precis") {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func TestByteOrderMarkIsPassedOver(t *testing.T) {
	rec, err := archive.Read(archive.Source{Path: "x.json", Data: []byte("\uFEFF" + recording)}, formats.All())
	if err != nil || rec.Conversation.Transcript.Len() != 3 {
		t.Errorf("%v", err)
	}
}
