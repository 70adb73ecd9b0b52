package memory

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
)

// write writes a file of the given size that begins with head and repeats it.
func write(t *testing.T, head string, size int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "recording.jsonl")
	if err := os.WriteFile(path, bytes.Repeat([]byte(head), size/len(head)+1)[:size], 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestALargeFileIsRefusedBeforeItIsRead(t *testing.T) {
	path := write(t, `{"role":"user","content":"a"}`+"\n", 3<<20)
	err := Check(path, 100<<20)
	e, ok := errors.AsType[*Error](err)
	if !ok || precis.CodeOf(err) != precis.CodeInvalid {
		t.Fatalf("%v, want a refusal", err)
	}
	if e.Path != path || e.Size != 3<<20 || e.Need <= e.Limit || e.Limit != 100<<20 || e.Taken {
		t.Errorf("%+v", e)
	}
	if text := err.Error(); !strings.Contains(text, path) || !strings.Contains(text, "its 3 MB need about") || !strings.Contains(text, "100 MB may be taken") {
		t.Errorf("%q does not name the file, its size and the limit", text)
	}
	for _, limit := range []int64{0, 1 << 30} {
		if err := Check(path, limit); err != nil {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}

func TestWhatIsNoFileIsLeftToItsReader(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "missing"), os.DevNull} {
		if err := Check(path, 1); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A log of 300 MB opens on a machine with 16 GB: lines of an agent with results of some
// kilobytes, whose code is full of braces and of escaped JSON.
func TestOrdinaryRecordingsAreNotRefused(t *testing.T) {
	line := `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"` +
		strings.Repeat(`if (x) { return {\"type\":\"text\",\"role\":\"user\"} }\n`, 40) + `"}]},"uuid":"c0ffee","toolUseResult":{"type":"text"}}` + "\n"
	head := []byte(strings.Repeat(line, sample/len(line)))
	limit := int64(share * float64(16<<30))
	if need := estimate(head, 300<<20); need > limit/4 {
		t.Errorf("300 MB are estimated at %s, a machine with 16 GB allows %s", megabytes(need), megabytes(limit))
	}
	if need := estimate(nil, 0); need > 100<<20 {
		t.Errorf("an empty file is estimated at %s", megabytes(need))
	}
}

func TestTheEstimateGrowsWithTheNumberOfMessages(t *testing.T) {
	few := estimate([]byte(`{"role":"user","content":"`+strings.Repeat("a", 1000)+`"}`), 10<<20)
	many := estimate([]byte(`{"role":"user","content":"a"}`), 10<<20)
	if many < 3*few {
		t.Errorf("short messages %s, long ones %s", megabytes(many), megabytes(few))
	}
}

func TestWhoTakesMoreIsStopped(t *testing.T) {
	path := write(t, "a", 10)
	stopped := make(chan error, 1)
	stop := Watch(path, 1<<20, func(err error) { stopped <- err }) // a program takes more than a megabyte
	defer stop()
	err := <-stopped
	e, ok := errors.AsType[*Error](err)
	if !ok || precis.CodeOf(err) != precis.CodeInvalid || !e.Taken || e.Size != 10 || e.Need <= e.Limit {
		t.Fatalf("%v", err)
	}
	if !strings.Contains(err.Error(), "were not done") {
		t.Errorf("%q", err)
	}
}

func TestLimit(t *testing.T) {
	if got := Limit(7); got != 7<<20 {
		t.Errorf("%d bytes, 7 MB are set", got)
	}
	if got := Limit(0); got < 0 || machine() > 0 && got == 0 {
		t.Errorf("%d bytes on a machine with %d", got, machine())
	}
}
