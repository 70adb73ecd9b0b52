package conformance

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/formats"
	"github.com/precis-dev/precis/archive/roo"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/internal/sample"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/retain"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/chat"
	"github.com/precis-dev/precis/wire/responses"
)

var windows = []int{16_000, 32_000, 64_000, 128_000, 200_000}

// extras are files beside a recording that are none themselves.
var extras = []string{".md", ".gz.tmp"}

// recordings lists the recordings under dir, task folders by their history.
func recordings(t testing.TB, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := d.Name()
		beside := name == roo.UIName || name == roo.MetadataName || name == roo.ItemName
		if beside || filepath.Dir(path) == dir && slices.Contains(extras, filepath.Ext(name)) {
			return nil
		}
		out = append(out, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sampledRecordings returns the example and a sample of the recordings, if there are any. They are sampled by size, so that every
// sample takes about the same time.
func sampledRecordings(t *testing.T, short, usual int) []string {
	t.Helper()
	paths := []string{filepath.Join("..", "examples", "add-a-counter.jsonl")}
	if dir := os.Getenv("PRECIS_TRANSCRIPTS"); dir != "" && sample.Of(short, usual, 1) > 0 {
		all := recordings(t, dir)
		slices.SortStableFunc(all, func(a, b string) int { return len(content(t, a)) - len(content(t, b)) })
		runs := sample.OneIn(t, short, usual)
		for i, path := range all {
			if runs(i) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// files holds the files that tests of this process have read, by path: functions that return content and error.
var files sync.Map

// content reads a file once per process, unpacking .gz. Callers must not modify it.
func content(t testing.TB, path string) []byte {
	t.Helper()
	read, _ := files.LoadOrStore(path, sync.OnceValues(func() ([]byte, error) {
		data, err := os.ReadFile(path)
		if err != nil || filepath.Ext(path) != ".gz" {
			return data, err
		}
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(z)
	}))
	data, err := read.(func() ([]byte, error))()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// parsed holds the recordings that tests of this process have parsed, by path: functions that return recording and error.
var parsed sync.Map

// readRecording parses a recording once per process and returns a copy that shares the messages. It returns nil, and logs why,
// when no format fits.
func readRecording(t testing.TB, path string) *archive.Recording {
	t.Helper()
	data := content(t, path)
	read, _ := parsed.LoadOrStore(path, sync.OnceValues(func() (*archive.Recording, error) {
		return archive.Read(archive.Source{Path: strings.TrimSuffix(path, ".gz"), Data: data}, formats.All())
	}))
	shared, err := read.(func() (*archive.Recording, error))()
	if err != nil {
		t.Logf("%s: %v", path, err)
		return nil
	}
	rec := *shared
	if shared.Conversation != nil {
		conv := *shared.Conversation
		conv.Edits = slices.Clone(conv.Edits)
		rec.Conversation = &conv
	}
	return &rec
}

func TestTranscripts(t *testing.T) {
	dir := directory(t, "PRECIS_TRANSCRIPTS")
	t.Cleanup(func() {
		if all := rules.Load(); all > 0 {
			t.Logf("%.1f %% of %d rules are in the views word for word, and %.2f %% of what is likely to be needed",
				100-100*float64(rulesLost.Load())/float64(all), all, 100*float64(factsKept.Load())/float64(facts.Load()))
		}
	})
	runs := sample.OneIn(t, 20, 1)
	for i, path := range recordings(t, dir) {
		if !runs(i) {
			continue
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkRecording(t, path)
		})
	}
}

// checkRecording checks a recording at a sample of the windows.
func checkRecording(t *testing.T, path string) {
	data, rec := content(t, path), readRecording(t, path)
	if rec == nil {
		t.FailNow()
	}
	breaches := len(precis.Check(precis.View(rec.Conversation.Transcript, rec.Conversation.Edits)))
	t.Logf("%-16s %5d messages %3d branches %2d edits %5d ignored %3d skipped %3d breaches mended",
		rec.Format, rec.Conversation.Transcript.Len(), len(rec.Conversation.Branches), len(rec.Conversation.Edits), rec.Ignored, rec.Skipped, breaches)
	runs := sample.OneIn(t, 2, 2)
	for i, w := range windows {
		if runs(i) {
			checkWindow(t, rec, data, w)
		}
	}
	checkContainer(t, rec, data)
	if filepath.Base(path) == roo.HistoryName {
		checkTask(t, path)
	}
}

// checkWindow reduces the recording to a window and checks the view and the way
// back.
func checkWindow(t *testing.T, rec *archive.Recording, data []byte, w int) {
	conv := *rec.Conversation
	conv.Edits = slices.Clone(conv.Edits)
	m := newManager(t, preset.Frugal)
	before := anthropic.AppendMessages(nil, precis.View(conv.Transcript, conv.Edits))
	edits := len(conv.Edits)
	res, err := m.Manage(context.Background(), policy.Request{Conversation: &conv, Window: precis.Window{Tokens: w, Source: precis.SourceConfigured}})
	if err != nil {
		t.Fatalf("window %d: %v", w, err)
	}
	r := res.Report
	if b := precis.Check(res.View); len(b) > 0 {
		t.Errorf("window %d: the view has breaches: %v", w, b[0])
	}
	if float64(r.After.Tokens) > r.Decision.Allowed {
		t.Errorf("window %d: %d tokens, %.0f are allowed", w, r.After.Tokens, r.Decision.Allowed)
	}
	if r.After.Tokens > r.Before.Tokens {
		t.Errorf("window %d: grew from %d to %d tokens", w, r.Before.Tokens, r.After.Tokens)
	}
	checkDialects(t, w, res.View)
	again := precis.View(conv.Transcript, conv.Edits)
	if one, two := encode(again), encode(precis.View(conv.Transcript, conv.Edits)); !bytes.Equal(one, two) {
		t.Errorf("window %d: the same edits give other bytes", w)
	}
	if len(conv.Edits) == edits {
		return
	}
	checkHandles(t, w, &conv, res.Edits)
	checkRetention(t, w, r)
	if _, err := m.Undo(context.Background(), &conv); err != nil {
		t.Fatalf("window %d: undo: %v", w, err)
	}
	if got := encode(precis.View(conv.Transcript, conv.Edits)); !bytes.Equal(got, before) {
		t.Errorf("window %d: undo does not give the view back", w)
	}
}

// notes are the forms in which precis names what it left out.
var notes = regexp.MustCompile(`(?m)\[(m\d+\.b\d+)(?:: |, shortened\])|left out, see (m\d+\.b\d+)\]|\[cut: (m\d+\.b\d+)\]|; all of it: (m\d+\.b\d+)(?:; rules| …\])|` +
	`shown in full at (m\d+\.b\d+)|This version: (m\d+\.b\d+)\.\]|was shown here: (m\d+\.b\d+)\.\]|Reasoning left out: (m\d+\.b\d+)\.`)

// spans are the forms in which precis names the messages it hides.
var spans = regexp.MustCompile(`^\[Digest of messages (m\d+(?:-m\d+)?),|^\[(m\d+(?:-m\d+)?): see the digest above\.\]|nothing is lost: (m\d+(?:-m\d+)?)\.\]|^\[Hidden to save room: (m\d+(?:-m\d+)?)\.\]`)

// lines are the lines of a digest that begin with a message's handle.
var lines = regexp.MustCompile(`(?m)^- (m\d+)(?:: | )`)

// named returns the handles that a pattern finds.
func named(t *testing.T, pattern *regexp.Regexp, text string) []precis.Handle {
	t.Helper()
	var out []precis.Handle
	for _, found := range pattern.FindAllStringSubmatch(text, -1) {
		for _, s := range found[1:] {
			if s == "" {
				continue
			}
			h, err := precis.ParseHandle(s)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, h)
		}
	}
	return out
}

// checkHandles holds that what stands in the place of something names it, and
// that every handle reads the originals.
func checkHandles(t *testing.T, w int, conv *precis.Conversation, made []precis.Edit) {
	tr := conv.Transcript
	for _, e := range made {
		for _, p := range e.Replace {
			switch {
			case p.Block != nil && p.WithBlock != nil:
				own := precis.BlockHandle(p.From, p.Block.Index)
				if e.Kind != precis.KindDedupe && !strings.Contains(blockText(p.WithBlock), own.String()) {
					t.Errorf("window %d: %s: what stands for %s does not name it: %.300q", w, e.Kind, own, blockText(p.WithBlock))
				}
				msgs, err := tr.Read(own)
				if err != nil || precis.HashBlock(msgs[0].Content[0]) != p.Block.Hash {
					t.Errorf("window %d: %s is not the original block (%v)", w, own, err)
				}
			case p.Block == nil && len(p.With) > 0:
				checkSpan(t, w, tr, p)
			}
		}
	}
	for _, m := range precis.View(tr, conv.Edits) {
		for _, b := range m.Content {
			for _, h := range named(t, notes, blockText(b)) {
				if _, err := tr.Read(h); err != nil && !slices.ContainsFunc(tr.Messages(), func(m precis.Message) bool { return holds(m, b) }) {
					t.Errorf("window %d: %s in the view: %v", w, h, err)
				}
			}
		}
	}
}

// checkSpan holds that the text for hidden messages names all of them, and none
// beyond.
func checkSpan(t *testing.T, w int, tr *precis.Transcript, p precis.Replacement) {
	own := p.OwnIndex()
	if own < 0 {
		t.Errorf("window %d: nothing stands for %s", w, precis.SpanHandle(p.From, p.To))
		return
	}
	text := p.With[own].PlainText()
	got := named(t, spans, text)
	if len(got) == 0 || got[0].From > p.From || got[0].To < p.To {
		t.Errorf("window %d: what stands for %s names %v: %.200q", w, precis.SpanHandle(p.From, p.To), got, text)
		return
	}
	msgs, err := tr.Read(got[0])
	if err != nil || len(msgs) != got[0].To-got[0].From {
		t.Errorf("window %d: %s: %d messages, %v", w, got[0], len(msgs), err)
		return
	}
	for i, m := range msgs {
		if precis.HashMessage(m) != precis.HashMessage(tr.At(got[0].From+i)) {
			t.Errorf("window %d: %s is not what was said", w, got[0])
		}
	}
	if digest, _, _ := strings.Cut(text, "\n## Summary before this"); strings.HasPrefix(text, "[Digest of") && digest == text {
		for _, h := range named(t, lines, text) {
			if _, err := tr.Read(h); err != nil && !strings.Contains(original(tr), "\n- "+h.String()) {
				t.Errorf("window %d: %s in a digest: %v", w, h, err)
			}
		}
	}
}

// original is all that users said: what a digest quotes line by line.
func original(tr *precis.Transcript) string {
	var b strings.Builder
	for _, m := range tr.Messages() {
		b.WriteString("\n" + m.PlainText())
	}
	return b.String()
}

func holds(m precis.Message, b precis.Block) bool {
	return slices.ContainsFunc(m.Content, func(o precis.Block) bool { return precis.HashBlock(o) == precis.HashBlock(b) })
}

func blockText(b precis.Block) string {
	switch b := b.(type) {
	case precis.Text:
		return b.Text
	case precis.ToolUse:
		return string(b.Input)
	case precis.ToolResult:
		return b.Text()
	}
	return ""
}

// What all views keep: the user's rules, and the facts likely to be needed.
var rules, rulesLost, facts, factsKept atomic.Int64

func checkRetention(t *testing.T, w int, r policy.Report) {
	k := r.Retention
	if k == nil {
		t.Errorf("window %d: no retention in the report", w)
		return
	}
	if k.Share < 0 || k.Share > 1 || k.Repaired > k.Kept || k.Kept > k.Anchors || len(k.Lost) < policy.MaxLost && k.Kept+len(k.Lost) != k.Anchors || len(k.RulesLost) > k.Rules {
		t.Errorf("window %d: retention %+v", w, k)
	}
	rules.Add(int64(k.Rules))
	rulesLost.Add(int64(len(k.RulesLost)))
	facts.Add(int64(k.Anchors))
	factsKept.Add(int64(k.Kept))
}

func encode(view []precis.Message) []byte { return anthropic.AppendMessages(nil, view) }

// checkDialects sends the view in each dialect and reads it back.
func checkDialects(t *testing.T, w int, view []precis.Message) {
	for name, d := range map[string]struct {
		write func([]byte, []precis.Message) []byte
		read  func([]byte) ([]precis.Message, error)
		check func([]precis.Message) []precis.Breach
	}{
		anthropic.Format: {anthropic.AppendMessages, anthropic.DecodeMessages, precis.Check},
		chat.Format:      {chat.AppendMessages, chat.DecodeMessages, chat.Dialect{}.Check},
		responses.Format: {responses.AppendMessages, responses.DecodeMessages, responses.Dialect{}.Check},
	} {
		got, err := d.read(d.write(nil, view))
		if err != nil {
			t.Errorf("window %d: %s: %v", w, name, err)
			continue
		}
		if b := d.check(got); len(b) > 0 {
			t.Errorf("window %d: as %s: %v", w, name, b[0])
		}
	}
}

func newManager(t testing.TB, name string) *policy.Manager {
	t.Helper()
	s, err := preset.Settings(name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := preset.New(preset.Options{Settings: s})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// checkContainer condenses into precis's own file and takes the original out of
// it again.
func checkContainer(t *testing.T, rec *archive.Recording, data []byte) {
	conv := *rec.Conversation
	conv.Edits = slices.Clone(conv.Edits)
	m := newManager(t, preset.Frugal)
	res, err := m.Manage(context.Background(), policy.Request{Conversation: &conv, Window: precis.Window{Tokens: 16_000}, TriggeredBy: precis.TriggeredManual})
	if err != nil {
		t.Fatal(err)
	}
	c := archive.NewContainer(rec.Format, rec.Path, data)
	c.Edits = res.Edits
	raw, err := c.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	back, err := archive.Read(archive.Source{Path: rec.Path, Data: raw}, formats.All())
	if err != nil {
		t.Fatalf("precis's own file: %v", err)
	}
	bc := back.Conversation
	if got, want := encode(precis.View(bc.Transcript, bc.Edits)), encode(precis.View(conv.Transcript, conv.Edits)); !bytes.Equal(got, want) {
		t.Errorf("precis's own file gives another view: %s", firstDifference(string(want), string(got)))
	}
	if parsed, err := archive.ParseContainer(raw); err != nil || !bytes.Equal(parsed.Original, data) {
		t.Errorf("the original is not in the file (%v)", err)
	}
	n := bc.Transcript.Len() / 2
	rewound := precis.Rewound(bc, n)
	if got, want := encode(precis.View(rewound.Transcript, nil)), encode(precis.View(bc.Transcript.Prefix(n), nil)); !bytes.Equal(got, want) {
		t.Error("rewinding to the middle gives other messages")
	}
}

// checkTask condenses a copy of a task folder in place, and takes it back by
// undo and by rewinding: every byte is as before.
func checkTask(t *testing.T, path string) {
	for _, w := range []struct {
		by   string
		kind precis.EditKind
	}{{by: "undo", kind: precis.KindTruncation}, {by: "rewind", kind: precis.KindTruncation}, {by: "undo", kind: precis.KindCondensation}, {by: "rewind", kind: precis.KindCondensation}} {
		by := w.by
		dir := t.TempDir()
		for _, name := range []string{roo.HistoryName, roo.UIName, roo.MetadataName} {
			if data, err := os.ReadFile(filepath.Join(filepath.Dir(path), name)); err == nil {
				if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		before := folder(t, dir)
		task, err := roo.OpenTask(dir)
		if err != nil {
			t.Fatal(err)
		}
		cline := task.IsCline()
		edits := condenseTask(t, task, w.kind)
		if len(edits) == 0 {
			continue
		}
		if task, err = roo.OpenTask(dir); err != nil {
			t.Fatal(err)
		}
		if cline { // its files say nothing of it, so what it sends stays
			if now := folder(t, dir); !strings.HasPrefix(now, strings.SplitN(before, "== "+roo.MetadataName, 2)[0]) {
				t.Errorf("the files of Cline are changed: %s", firstDifference(before, now))
			}
		} else {
			checkTags(t, task, edits)
		}
		if by == "rewind" && (task.UI == nil || cline) {
			continue
		}
		takeBack(t, task, by, edits)
		if after := folder(t, dir); after != before {
			t.Errorf("%s of a %s does not give the folder's bytes back: %s", by, w.kind, firstDifference(before, after))
		}
	}
}

// condenseTask brings a task down to a small window, as tags can say it, and records it.
func condenseTask(t *testing.T, task *roo.Task, kind precis.EditKind) []precis.Edit {
	s, err := preset.Settings(preset.Roo)
	if err != nil {
		t.Fatal(err)
	}
	condenses := kind == precis.KindCondensation
	if s.Rungs = []string{"truncate"}; condenses {
		s.Rungs = []string{"digest"}
	}
	m, err := preset.New(preset.Options{Settings: s, FromStart: condenses})
	if err != nil {
		t.Fatal(err)
	}
	res, err := m.Manage(context.Background(), policy.Request{Conversation: task.Conversation, Window: precis.Window{Tokens: 20_000}, Target: 9000, DryRun: true})
	if err != nil && precis.CodeOf(err) != precis.CodeOverBudget {
		t.Fatal(err)
	}
	if err := task.Record(context.Background(), res.Edits, time.Now()); err != nil {
		t.Fatal(err)
	}
	return res.Edits
}

// checkSummary looks at a written condensation: Roo would send the summary, with what the user
// said last, and what follows it; everything before it has its tag.
func checkSummary(t *testing.T, task *roo.Task, e precis.Edit) {
	effective, err := task.History.Effective()
	if err != nil || len(effective) == 0 {
		t.Fatal(err, len(effective))
	}
	first, err := jsonspan.Fields(effective[0])
	if err != nil || string(first["isSummary"]) != "true" || string(first["condenseId"]) != `"`+e.ID+`"` {
		t.Fatalf("Roo would begin with %.200s", effective[0])
	}
	speech := task.Conversation.Transcript.Speech()
	if last := speech.LastTurn(nil); last >= 0 && last < e.Replace[0].To && speech.BeginsTurn(last) {
		m, err := anthropic.DecodeMessage(effective[0])
		if err != nil || !strings.Contains(retain.Folded(m.PlainText()), retain.Folded(speech.AllWords(last))) {
			t.Errorf("what the user said last, at %d, is not in the summary (%v)", last, err)
		}
	}
	if got := roo.SinceLastSummary(task.History.Stored()); len(got) > len(task.History.Stored())-1 {
		t.Errorf("nothing is before the summary")
	}
	for _, raw := range task.History.Stored() {
		if string(raw) == string(effective[0]) {
			break
		}
		if f, err := jsonspan.Fields(raw); err != nil || f["condenseParent"] == nil {
			t.Fatalf("a message before the summary has no tag: %.200s", raw)
		}
	}
}

// checkTags reads the written folder as precis and as Roo would.
func checkTags(t *testing.T, task *roo.Task, edits []precis.Edit) {
	conv := task.Conversation
	if !slices.ContainsFunc(conv.Edits, func(e precis.Edit) bool { return e.ID == edits[0].ID && e.Report.Reason == edits[0].Report.Reason }) {
		t.Errorf("edit %s is not read back from the tags", edits[0].ID)
	}
	if edits[0].Kind == precis.KindCondensation {
		checkSummary(t, task, edits[0])
	}
	effective, err := task.History.Effective()
	if err != nil {
		t.Fatal(err)
	}
	alone, err := archive.Read(archive.Source{Path: roo.HistoryName, Data: task.History.Bytes()}, formats.All())
	if err != nil {
		t.Fatal(err)
	}
	tagged := alone.Conversation.Edits // without what precis shows beside a marker
	if got, want := len(effective), len(precis.View(conv.Transcript, tagged)); got != want {
		t.Errorf("Roo would send %d messages, precis %d", got, want)
	}
}

func takeBack(t *testing.T, task *roo.Task, by string, edits []precis.Edit) {
	if by == "undo" {
		if err := task.Undo(context.Background(), edits[0].ID); err != nil {
			t.Fatal(err)
		}
		return
	}
	n := task.UI.Len()
	if err := task.Rewind(context.Background(), roo.Target{ByIndex: true, Index: n - 1, Now: float64(time.Now().UnixMilli())}); err != nil {
		t.Fatal(err)
	}
}

// folder returns the names and contents of a folder, backups left out.
func folder(t *testing.T, dir string) string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range files {
		if strings.Contains(f.Name(), roo.BackupSuffix) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "== %s\n%s\n", f.Name(), data)
	}
	return b.String()
}

func firstDifference(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	cut := func(s string) string { return s[min(i, len(s)):min(i+80, len(s))] }
	return fmt.Sprintf("at byte %d: %q became %q", i, cut(a), cut(b))
}
