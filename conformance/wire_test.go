package conformance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/chat"
	"github.com/precis-dev/precis/wire/responses"
)

// recordedRequest is one line of a recorded stream.
type recordedRequest struct {
	Path string `json:"path"`
	Body struct {
		Messages json.RawMessage `json:"messages"`
		Input    json.RawMessage `json:"input"`
	} `json:"body"`
}

// dialect is how one API's messages are read and written.
type dialect struct {
	read  func([]byte) ([]precis.Message, error)
	write func([]byte, []precis.Message) []byte
	check func([]precis.Message) []precis.Breach
}

func dialectOf(r recordedRequest) (dialect, json.RawMessage) {
	switch {
	case strings.Contains(r.Path, "/chat/completions"):
		return dialect{chat.DecodeMessages, chat.AppendMessages, chat.Dialect{}.Check}, r.Body.Messages
	case strings.Contains(r.Path, "/responses"):
		return dialect{responses.DecodeMessages, responses.AppendMessages, responses.Dialect{}.Check}, r.Body.Input
	}
	return dialect{anthropic.DecodeMessages, anthropic.AppendMessages, precis.Check}, r.Body.Messages
}

// TestWireMessages reads the requests that real clients sent: every message comes back
// byte for byte, and what a provider took has no breach.
func TestWireMessages(t *testing.T) {
	dir := directory(t, "PRECIS_WIRE")
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no streams in %s (%v)", dir, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl.gz"), func(t *testing.T) {
			lines := bufio.NewScanner(bytes.NewReader(content(t, file)))
			lines.Buffer(nil, 64<<20)
			requests, messages := 0, 0
			for lines.Scan() {
				var r recordedRequest
				if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
					t.Fatal(err)
				}
				n := checkRequest(t, r)
				messages += n
				if n > 0 {
					requests++
				}
			}
			if err := lines.Err(); err != nil {
				t.Fatal(err)
			}
			t.Logf("%4d requests %6d messages", requests, messages)
		})
	}
}

func checkRequest(t *testing.T, r recordedRequest) int {
	d, raw := dialectOf(r)
	if len(raw) == 0 {
		return 0
	}
	msgs, err := d.read(raw)
	if err != nil {
		t.Fatalf("%s: %v", r.Path, err)
	}
	var want, got []json.RawMessage
	if raw[0] == '[' {
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(d.write(nil, msgs), &got); err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) {
			t.Fatalf("%s: %d messages became %d", r.Path, len(want), len(got))
		}
		for i := range want {
			if !bytes.Equal(got[i], want[i]) {
				t.Errorf("%s: message %d: %.300s became %.300s", r.Path, i, want[i], got[i])
			}
		}
	}
	if b := d.check(msgs); len(b) > 0 {
		t.Errorf("%s: %v", r.Path, b[0])
	}
	return len(msgs)
}
