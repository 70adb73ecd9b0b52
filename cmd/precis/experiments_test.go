package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/formats"
	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/cmd/internal/reports"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/internal/experiments"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/tokens"
)

// short is a summarizer that always says the same.
type short string

func (s short) Summarize(context.Context, policy.SummaryRequest) (policy.Summary, error) {
	call := &precis.CallReport{Model: "small", Calls: 1, CostUSD: float64(len(s)) / 1e4}
	return policy.Summary{Text: string(s), CostUSD: call.CostUSD, Call: call}, nil
}

// recordExperiment writes n conversations to a folder that were condensed in an experiment and
// continued: with the variant "brief" they read three files again, otherwise none.
func recordExperiment(t *testing.T, n int) string {
	t.Helper()
	x, err := experiments.New("length",
		experiments.Variant{Name: "brief", Strategy: condense.Full{Summarizer: short("Files were read.")}},
		experiments.Variant{Name: "control", Strategy: condense.Full{Summarizer: short(strings.Repeat("Files were read, all of them. ", 20))}})
	if err != nil {
		t.Fatal(err)
	}
	counter, err := tokens.New(tokens.Options{Name: tokens.NameChars4})
	if err != nil {
		t.Fatal(err)
	}
	m, err := policy.NewManager(policy.Options{Counter: counter, Strategies: []policy.Strategy{x}, Gate: digest.Gate{}})
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for i := range n {
		id := fmt.Sprint("talk-", i)
		again := 0
		if x.Assign(&precis.Conversation{ID: id}).Name == "brief" {
			again = 3 - i%2
		}
		data, reads := readingAgent(id, 12+i%4, again)
		rec, err := archive.Read(archive.Source{Data: data}, formats.All())
		if err != nil {
			t.Fatal(err)
		}
		conv := rec.Conversation
		conv.Transcript = conv.Transcript.Prefix(1 + 2*reads)
		res, err := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: 24_000}, TriggeredBy: precis.TriggeredManual})
		if err != nil || len(res.Edits) != 1 {
			t.Fatalf("%v: %+v", err, res.Report.Steps)
		}
		c := archive.NewContainer(rec.Format, id+".json", data)
		c.Edits = res.Edits
		out, err := c.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, id+".precis"), out, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// readingAgent writes a conversation that reads so many files, and some again.
func readingAgent(id string, reads, again int) ([]byte, int) {
	msgs := []string{`{"role":"user","content":"Read the files."}`}
	for k := range reads + again {
		body := strings.Repeat(fmt.Sprintf(`line of file %d\n`, k%reads), 300)
		msgs = append(msgs,
			fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"read_file","input":{"path":"f%d.txt"}}]}`, k, k%reads),
			fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"%s"}]}`, k, body))
	}
	msgs = append(msgs, `{"role":"assistant","content":"All read."}`)
	return fmt.Appendf(nil, `{"id":%q,"model":"claude-sonnet-4-5","messages":[%s]}`, id, strings.Join(msgs, ",")), reads
}

func compared(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), append([]string{"experiments"}, args...), console.Streams{In: strings.NewReader(""), Out: &out, Errs: &errs}); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	return out.String()
}

func TestExperimentsTellsWhatIsLargerThanChance(t *testing.T) {
	folder := recordExperiment(t, 16)
	text := compared(t, folder)
	for _, want := range []string{
		`(?m)^16 condensations in 16 recordings$`,
		`(?m)^experiment length$`,
		`(?m)^ +control +brief$`, // the control first
		`(?m)^  tokens saved +\d,\d{3} ± [\d,]+ +\d,\d{3} ± [\d,]+$`,
		`(?m)^  cost +\$0\.0600 +\$0\.0016$`,
		`(?m)^  model calls +1\.00 +1\.00$`,
		`(?m)^  re-reads of hidden +0\.00 +2\.\d\d ± 0\.\d\d$`,
		`(?m)^  undone +0\.0 % \(0\.0 % to \d+\.\d %\) +0\.0 %`,
		`(?m)^  larger than chance: re-reads of hidden of brief is 2\.\d\d more than of control \(\d\.\d\d to \d\.\d\d\)$`,
		`(?m)^  of \d differences looked at, 0\.\d would look larger than chance by chance alone$`,
	} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("the output lacks %s:\n%s", want, text)
		}
	}
	if strings.Contains(text, "no experiment") {
		t.Errorf("all are of an experiment:\n%s", text)
	}
	var r reports.Gathered
	if err := json.Unmarshal([]byte(compared(t, "--json", folder)), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Stats) != 2 || r.Stats[0].Variant != experiments.Control || r.Stats[0].Conversations+r.Stats[1].Conversations != 16 ||
		!r.Stats[1].Differences[experiments.MetricRereads].BeyondChance() || len(r.Condensations) != 16 {
		t.Errorf("%+v", r.Stats)
	}
}

func TestExperimentsClaimsNothingOfFew(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(recordExperiment(t, 8), "*"))
	if err != nil {
		t.Fatal(err)
	}
	byVariant := map[string][]string{}
	for _, f := range files {
		var r reports.Gathered
		if err := json.Unmarshal([]byte(compared(t, "--json", f)), &r); err != nil || len(r.Condensations) != 1 {
			t.Fatalf("%v: %+v", err, r)
		}
		v := r.Condensations[0].Variant
		byVariant[v] = append(byVariant[v], f)
	}
	brief, controls := byVariant["brief"], byVariant[experiments.Control]
	if len(brief) < 2 || len(controls) < 2 {
		t.Fatalf("%d and %d conversations, want two of each; choose other IDs", len(brief), len(controls))
	}
	for want, args := range map[string][]string{
		"there is no other variant to compare with":                          controls,
		"there are too few conversations to tell any difference from chance": {brief[0], controls[0]},
		"no difference is larger than chance with so few":                    {brief[0], brief[1], controls[0], controls[1]},
	} {
		if text := compared(t, args...); !strings.Contains(text, want) || strings.Contains(text, "larger than chance: ") {
			t.Errorf("the output lacks %q:\n%s", want, text)
		}
	}
}

// TestTheLongestCopyCounts: a recording that continued replaces an earlier copy; similar but
// different ones stay.
func TestTheLongestCopyCounts(t *testing.T) {
	got := withoutCopies([]experiments.Outcome{
		{Conversation: "a", Run: "1", After: 3}, {Conversation: "b", Run: "1", After: 1}, {Conversation: "a", Run: "1", After: 9},
		{Conversation: "a", Run: "1", After: 4}, {Conversation: "a", Run: "2", After: 2}, {Conversation: "a", Run: "1", Experiment: "x", After: 5},
	})
	text := ""
	for _, o := range got {
		text += fmt.Sprint(o.Conversation, o.Run, o.Experiment, o.After, " ")
	}
	if text != "a19 b11 a22 a1x5 " {
		t.Error(text)
	}
}

func TestExperimentsBreaksWideTables(t *testing.T) {
	var all []experiments.Outcome
	for i := range 5 {
		all = append(all, experiments.Outcome{Conversation: "c", Experiment: "x", Variant: fmt.Sprint("variant-", i)})
	}
	all = append(all, experiments.Outcome{Conversation: "c", Variant: "digest"})
	var out bytes.Buffer
	p := reports.New(console.New(console.Streams{Out: &out, Errs: &out}))
	p.Experiments(reports.Gathered{Recordings: 1, Stats: experiments.Compare(sorted(all)), Condensations: all})
	for line := range strings.Lines(out.String()) {
		if len([]rune(line)) > 100 {
			t.Errorf("a line of %d columns: %s", len([]rune(line)), line)
		}
	}
	if n := strings.Count(out.String(), "tokens saved"); n != 3 {
		t.Errorf("%d tables, want two of the experiment and one beside it:\n%s", n, out.String())
	}
	if !regexp.MustCompile(`(?s)experiment x.*variant-0.*variant-4.*of no experiment.*digest`).MatchString(out.String()) {
		t.Errorf("not in order:\n%s", out.String())
	}
}

// TestExperimentsOfTheStore: conversations of a gateway are assigned to the arms of its
// configuration, and compared from its store.
func TestExperimentsOfTheStore(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it starts a process")
	}
	dir := t.TempDir()
	store, file := filepath.Join(dir, "store.db"), filepath.Join(dir, "own.yaml")
	yaml := "preset: frugal\nexperiments:\n  soon:\n    arms:\n      control: off   # left alone\n      early: {threshold: 20, target: 10}\n"
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	base, stop := served(t, store, "--config", file)
	acted := map[bool]int{}
	for i := range 16 {
		body := strings.Replace(readings(5, fmt.Sprintf(`,"conversation":"ticket %d"`, i)), "Read the files.", fmt.Sprintf("Read the files of %d.", i), 1)
		code, v := asked(t, base+"/precis/api/v1/assemble", body)
		if code != 200 {
			t.Fatal(v)
		}
		acted[v["acted"].(bool)]++
	}
	res, err := http.Get(base + "/precis/api/v1/ledger") // answers when all is stored
	if err != nil || res.StatusCode != 200 {
		t.Fatal(res, err)
	}
	res.Body.Close()
	stop()
	if acted[true] == 0 || acted[false] == 0 {
		t.Fatalf("acted: %v", acted)
	}
	text := compared(t, "--store", store)
	for _, want := range []string{
		`(?m)^16 conversations of experiments$`, `(?m)^experiment soon$`, `(?m)^ +control +early$`,
		fmt.Sprintf(`(?m)^  conversations +%d +%d$`, acted[false], acted[true]), `(?m)^  edits +0\.00 +[1-9]\.\d\d`,
		`(?m)^their condensations$`, fmt.Sprintf(`(?m)^  conversations +%d$`, acted[true]), `(?m)^  tokens saved +\d,\d{3}`,
	} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("the output lacks %s:\n%s", want, text)
		}
	}
	var r reports.Gathered
	if err := json.Unmarshal([]byte(compared(t, "--json", "--store", store)), &r); err != nil || len(r.Arms) != 2 || r.Arms[0].Variant != "control" || r.Arms[1].Conversations != acted[true] || len(r.Condensations) != acted[true] {
		t.Errorf("%+v, %v", r.Arms, err)
	}
}
