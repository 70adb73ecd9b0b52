package conformance

import (
	"path/filepath"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/formats"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/preset"
)

// ownRecordings is the folder of the project's own recordings: six jobs of coding agents that were written for these tests.
const ownRecordings = "testdata/recordings"

// ownShapes is what the recordings hold: figures that are compared from commit to commit must come from the same text.
var ownShapes = map[string]struct{ messages, bytes int }{
	"checkout-incident.jsonl.gz":   {103, 220_165},
	"go-queue-leases.jsonl.gz":     {134, 315_675},
	"incremental-builds.jsonl.gz":  {117, 336_626},
	"postgres-partitions.jsonl.gz": {102, 258_198},
	"python-importer.jsonl.gz":     {113, 298_328},
	"typescript-panels.jsonl.gz":   {104, 274_141},
}

// readOwn reads the project's own recordings, in the order of their names.
func readOwn(t testing.TB) (all []*archive.Recording) {
	t.Helper()
	for _, path := range recordings(t, ownRecordings) {
		rec, err := archive.Read(archive.Source{Path: path, Data: content(t, path)}, formats.All())
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, rec)
	}
	return all
}

// TestOwnRecordings reads the recordings without a gap: no line is skipped, every call has its result, and each was compacted once,
// with a summary that holds enough statements and is followed by enough messages to measure what the agent uses again.
func TestOwnRecordings(t *testing.T) {
	const after, statements = 30, 15
	all := readOwn(t)
	if len(all) != len(ownShapes) {
		t.Fatalf("%d recordings, want %d", len(all), len(ownShapes))
	}
	counter := newManager(t, preset.Balanced).NewMeter()
	for _, rec := range all {
		t.Run(filepath.Base(rec.Path), func(t *testing.T) {
			msgs := rec.Conversation.Transcript.Messages()
			tokens := counter.View(msgs)
			if rec.Skipped > 0 || len(rec.Warnings) > 0 || len(rec.Conversation.Branches) > 0 {
				t.Errorf("%d lines skipped, %d branches, warnings %v", rec.Skipped, len(rec.Conversation.Branches), rec.Warnings)
			}
			want, bytes := ownShapes[filepath.Base(rec.Path)], len(content(t, rec.Path))
			if len(msgs) != want.messages || bytes != want.bytes || tokens < 40_000 || tokens > 80_000 {
				t.Errorf("%d messages, %d bytes, %d tokens, want %+v and 40,000 to 80,000 tokens", len(msgs), bytes, tokens, want)
			}
			if breaches := precis.Check(msgs); len(breaches) > 0 {
				t.Errorf("not valid: %v", breaches[0])
			}
			for _, c := range toolcall.Find(msgs) {
				if c.Output() == "" {
					t.Errorf("call %s has no result", c.Title())
				}
			}
			rs := summariesOf(rec)
			if len(rs) != 1 || len(rs[0].after) < after || len(handedOver(rs[0].text)) < statements {
				t.Fatalf("%d summaries, want one with %d statements and %d messages behind it", len(rs), statements, after)
			}
			t.Logf("%d messages, %d behind the summary, %d tokens, %d statements", len(msgs), len(rs[0].after), tokens, len(handedOver(rs[0].text)))
		})
	}
}
