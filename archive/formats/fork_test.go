package formats_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/formats"
)

const (
	said = `{"parentUuid":null,"uuid":"u1","sessionId":"parent","type":"user","message":{"role":"user","content":"Never push."},"timestamp":"2026-01-01T00:00:01Z"}
{"parentUuid":"u1","uuid":"u2","sessionId":"parent","type":"assistant","message":{"id":"a1","role":"assistant","content":[{"type":"text","text":"I will not."}]},"timestamp":"2026-01-01T00:00:02Z"}
`
	cut = `{"parentUuid":null,"logicalParentUuid":"u2","uuid":"b1","sessionId":"parent","type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"manual","preTokens":9},"timestamp":"2026-01-01T00:00:03Z"}
{"parentUuid":"b1","uuid":"s1","sessionId":"parent","type":"user","isCompactSummary":true,"message":{"role":"user","content":"This session is being continued. Nothing was said."},"timestamp":"2026-01-01T00:00:04Z"}
`
	more = `{"parentUuid":"s1","uuid":"u3","sessionId":"%","type":"user","message":{"role":"user","content":"Go on."},"timestamp":"2026-01-01T00:00:05Z"}
`
)

// A session forked after a compaction includes the earlier messages from its parent's file and
// keeps its own name; a fork of the fork includes both.
func TestForkHasWhatItsParentHolds(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name+".jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	as := func(name, text string) string {
		return strings.ReplaceAll(text, `"sessionId":"parent"`, `"sessionId":"`+name+`"`)
	}
	fork := write("fork", `{"type":"mode","mode":"normal","sessionId":"fork"}`+"\n"+as("fork", cut)+strings.ReplaceAll(more, "%", "fork"))
	messages := func(path string) (n int, id string) {
		src, err := formats.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := archive.Read(src, formats.All())
		if err != nil {
			t.Fatal(err)
		}
		return rec.Conversation.Transcript.Len(), rec.Conversation.ID
	}
	if n, _ := messages(fork); n != 2 {
		t.Errorf("without its parent the fork has %d messages, want 2", n)
	}
	write("parent", said+cut+strings.ReplaceAll(more, "%", "parent"))
	if n, id := messages(fork); n != 3 || id != "fork" {
		t.Errorf("the fork %q has %d messages, want 3", id, n)
	}
	second := strings.NewReplacer(`"b1"`, `"b2"`, `"s1"`, `"s2"`, `"u2"`, `"u3"`).Replace(cut)
	write("fork", as("fork", cut)+strings.ReplaceAll(more, "%", "fork")+as("fork", second))
	if n, id := messages(write("again", as("again", second))); n != 3 || id != "again" {
		t.Errorf("the fork of the fork, %q, has %d messages, want 3", id, n)
	}
	if src, err := formats.LoadAlone(fork); err != nil || len(src.Data) != len(as("fork", cut)+strings.ReplaceAll(more, "%", "fork")+as("fork", second)) {
		t.Error("a recording alone holds what another one does")
	}
}

// Two files that each begin with a boundary of the other one are read.
func TestForksInACircle(t *testing.T) {
	dir := t.TempDir()
	line := func(uuid string) string {
		return `{"parentUuid":null,"logicalParentUuid":"u2","uuid":"` + uuid + `","sessionId":"a","type":"system","subtype":"compact_boundary"}` + "\n"
	}
	for name, text := range map[string]string{"a": line("x") + line("y"), "b": line("y") + line("x")} {
		if err := os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if src, err := formats.Load(filepath.Join(dir, "a.jsonl")); err != nil || len(src.Data) > 64*len(line("x")) {
		t.Errorf("%d bytes, %v", len(src.Data), err)
	}
}
