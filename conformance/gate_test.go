package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/retain"
	"github.com/precis-dev/precis/verify"
)

// recorded is a summary that an agent's program recorded, with the messages it stands for.
type recorded struct {
	name, text string
	system     precis.Message
	messages   []precis.Message
	after      []precis.Message // what came then
}

// recordedSummaries returns the summaries in the recordings of a folder.
func recordedSummaries(t *testing.T, dir string) []recorded {
	t.Helper()
	var out []recorded
	for _, path := range recordings(t, dir) {
		rec := readRecording(t, path)
		if rec == nil {
			continue // TestTranscripts reads them all
		}
		out = append(out, summariesOf(rec)...)
	}
	return out
}

// summariesOf returns the summaries in a recording.
func summariesOf(rec *archive.Recording) (out []recorded) {
	tr := rec.Conversation.Transcript
	for _, e := range rec.Conversation.Edits {
		if e.Kind != precis.KindCondensation {
			continue
		}
		r := recorded{name: filepath.Base(rec.Path), system: rec.Conversation.System}
		for _, p := range e.Replace {
			for _, m := range p.With {
				r.text += m.PlainText() + "\n"
			}
			r.messages, r.after = tr.Messages()[:p.To], tr.Messages()[p.To:]
		}
		size := 0
		for _, m := range r.messages {
			size += len(m.Raw)
		}
		if len(r.text) > 500 && size > 10*len(r.text) { // of others the messages are gone
			out = append(out, r)
		}
	}
	return out
}

func (r recorded) doubts(text string) []verify.Doubt {
	return digest.Repair(policy.SummaryRequest{
		Conversation: &precis.Conversation{System: r.system}, Messages: r.messages, Previous: text,
	}, digest.RepairOptions{}).Doubts
}

// statements counts the lines of a text that say something.
func statements(text string) (n int) {
	for line := range strings.Lines(text) {
		if len(strings.Fields(line)) > 1 {
			n++
		}
	}
	return n
}

// TestGateOnRecordedSummaries counts what the gate doubts in summaries that models wrote, most of which
// is true, and what it finds of false statements that are planted in them, one at a time.
func TestGateOnRecordedSummaries(t *testing.T) {
	t.Parallel()
	all := []recorded{exampleSummary(t)}
	if dir := os.Getenv("PRECIS_TRANSCRIPTS"); dir != "" && !testing.Short() {
		all = append(all, recordedSummaries(t, dir)...)
	}
	lines, doubted := 0, 0
	planted, found := map[retain.Kind]int{}, map[retain.Kind]int{}
	for _, r := range all {
		before := map[string]bool{}
		for _, d := range r.doubts(r.text) {
			before[d.Text] = true
			doubted++
			t.Logf("%s (%d messages): %s %q: %s", r.name, len(r.messages), d.Kind, d.Text, d.Why)
		}
		lines += statements(r.text)
		for _, p := range plant(r) {
			planted[p.kind]++
			for _, d := range r.doubts(p.text) {
				if !before[d.Text] && d.Text == p.name {
					found[p.kind]++
				}
			}
		}
	}
	t.Logf("%d summaries, %d of %d statements doubted; planted %v, found %v", len(all), doubted, lines, planted, found)
	if doubted*100 > lines {
		t.Errorf("%d of %d statements are doubted", doubted, lines)
	}
	for kind, n := range planted {
		if found[kind]*10 < n*9 {
			t.Errorf("%d planted false statements of the kind %s, %d found", n, kind, found[kind])
		}
	}
}

// exampleSummary is a digest of the example, taken for a model's summary.
func exampleSummary(t *testing.T) recorded {
	t.Helper()
	path := filepath.Join("..", "examples", "add-a-counter.jsonl")
	rec := readRecording(t, path)
	r := recorded{name: filepath.Base(path), system: rec.Conversation.System, messages: rec.Conversation.Transcript.Messages()}
	s, err := digest.Writer{}.Summarize(t.Context(), policy.SummaryRequest{Messages: r.messages})
	if err != nil {
		t.Fatal(err)
	}
	r.text = s.Text
	return r
}

type falsehood struct {
	kind       retain.Kind
	name, text string
}

// plant returns the summary with one name changed, for each kind of name: the first of its kind that a
// statement about the past makes.
func plant(r recorded) []falsehood {
	var out []falsehood
	seen := map[retain.Kind]bool{}
	add := func(k retain.Kind, name, statement string) {
		if !seen[k] {
			seen[k] = true
			out = append(out, falsehood{k, name, "# Work so far\n" + statement + "\n" + r.text})
		}
	}
	retain.Scan(r.text, func(a retain.Anchor) {
		name := r.text[a.Start:a.End]
		switch a.Kind {
		case retain.KindPath:
			dir, base := filepath.Split(name)
			if ext := filepath.Ext(base); len(ext) > 1 && len(ext) < 6 && len(base) > len(ext)+3 && !strings.ContainsAny(name, "*<>{}") {
				changed := dir + "un" + base
				add(a.Kind, changed, "- "+changed+" holds the rest of it.")
			}
		case retain.KindIdentifier:
			if changed := name + "Legacy"; strings.ToLower(name) != name && !strings.ContainsAny(name, ".:-/") {
				add(a.Kind, changed, "- The work is done by `"+changed+"`.")
			}
		case retain.KindQuote:
			if words := strings.Fields(name); len(words) > 5 && r.text[a.Start-1] == '"' {
				changed := strings.Join([]string{words[4], words[1], words[3], words[0], words[5], words[2]}, " ")
				add(a.Kind, changed, "- The user wrote \""+changed+"\".")
			}
		}
	})
	add(retain.KindNumber, "73914", "- It came to 73914 in the end.")
	return out
}
