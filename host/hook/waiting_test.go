package hook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// compacted are the lines that Claude Code writes for a compaction, after its hooks have run.
const compacted = `{"parentUuid":null,"logicalParentUuid":"u1","uuid":"b1","sessionId":"s1","type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":1234}}
{"parentUuid":"b1","uuid":"b2","sessionId":"s1","type":"user","isCompactSummary":true,"isVisibleInTranscriptOnly":true,"message":{"role":"user","content":"The port is begun."}}
`

// waiting counts what waits; the commands of hooks look whether the folder is there, which must not be empty.
func (s *session) waiting() int {
	all, err := os.ReadDir(filepath.Join(s.o.State, waitingFolder))
	if err == nil && len(all) == 0 {
		return -1
	}
	return len(all)
}

// Without a hook after the compaction, the summary is checked once it is recorded. The facts
// missing from it and from the digest are given once, and the user sees no output. The waiting
// folder exists only while work is due.
func TestTheSummaryIsLookedAtLater(t *testing.T) {
	s := begin(t, "claude-code", 30)
	if got := s.run("pending", claudeBatch); got != "" || s.waiting() != 0 {
		t.Fatalf("before a compaction: %q, %d wait", got, s.waiting())
	}
	s.run("session-start", claudeCompact, "--part", "1")
	if s.waiting() != 1 {
		t.Fatal("nothing waits after a compaction")
	}
	if got := s.run("pending", claudeBatch); got != "" || s.waiting() != 1 {
		t.Errorf("the summary is not there yet: %q, %d wait", got, s.waiting())
	}
	if err := (&call{Call: Call{Host: s.host}, o: s.o, input: input{Session: "s1"}}).update(t.Context(), func(s *state) { s.Digest = "" }); err != nil {
		t.Fatal(err)
	}
	s.write(recordings[s.host](30) + compacted)
	if text := s.added(s.run("pending", claudeBatch), "PostToolBatch"); !strings.Contains(text, "lamp/legacy.go") {
		t.Errorf("it lacks the rule: %s", text)
	}
	if got := s.run("pending", claudeBatch); got != "" || s.waiting() != 0 {
		t.Errorf("afterwards: %q, %d wait", got, s.waiting())
	}
	// A summary that never comes is not looked for again and again.
	s.run("session-start", claudeCompact, "--part", "1")
	for range mostTries {
		if s.waiting() != 1 {
			t.Error("it is given up too early")
		}
		s.run("pending", claudeBatch)
	}
	if s.waiting() != 0 {
		t.Error("it is looked for for ever")
	}
}

// A run that ends lets the next one begin; so does the next compaction, after one that was
// killed.
func TestARunThatWasKilled(t *testing.T) {
	s := begin(t, "claude-code", 4)
	busy := filepath.Join(s.o.State, busyFolder)
	for _, event := range []string{"pending", "session-start"} {
		if err := os.MkdirAll(busy, 0o700); err != nil {
			t.Fatal(err)
		}
		s.run(event, map[string]string{"pending": claudeBatch, "session-start": claudeCompact}[event])
		if _, err := os.Stat(busy); err == nil {
			t.Errorf("%s leaves it", event)
		}
	}
}

// A summary that comes by the event, before the recording has it, replaces what was said since the compaction before,
// too: that is not taken for what the model still sees. What follows a recorded summary is.
func TestTheSecondSummaryByItsEvent(t *testing.T) {
	s := begin(t, "claude-code", 30)
	const rule = "Never touch lamp/second.go."
	s.write(recordings[s.host](30) + compacted +
		`{"parentUuid":"b2","uuid":"z3","sessionId":"s1","type":"user","message":{"role":"user","content":"` + rule + `"},"timestamp":"2026-03-01T12:00:00Z"}` + "\n" +
		`{"parentUuid":"z3","uuid":"z4","sessionId":"s1","type":"assistant","message":{"id":"z4","role":"assistant","content":[{"type":"text","text":"I will not."}]},"timestamp":"2026-03-01T12:00:01Z"}` + "\n")
	c := &call{Call: Call{Host: s.host}, o: s.o, input: input{Session: "s1", Transcript: s.path}}
	r, err := c.open()
	if err != nil {
		t.Fatal(err)
	}
	recorded, _, _ := r.shown()
	if got := c.missingText(r, "Something else was done.", "", roomForMore); recorded == "" || !strings.Contains(got, "lamp/second.go") {
		t.Errorf("behind %q the event's summary lacks: %s", recorded, got)
	}
	if got := c.missingText(r, recorded, "", roomForMore); strings.Contains(got, "lamp/second.go") {
		t.Errorf("what is in view is given again: %s", got)
	}
}
