package digest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/formats"
	"github.com/precis-dev/precis/digest/effects"
	"github.com/precis-dev/precis/internal/sample"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/retain"
	"github.com/precis-dev/precis/verify"
)

// recordedSummary is a summary that an agent program recorded, and what it reads of the conversation before it.
type recordedSummary struct {
	name, text string
	in         *input
}

// summariesIn returns the summaries in the recordings of a folder whose conversation is still there.
func summariesIn(t *testing.T, dir string) (out []recordedSummary) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(p, ".gz") {
			return err
		}
		rec, err := archive.Open(p, formats.All())
		if err != nil || rec.Conversation == nil {
			return nil // notes, indexes, packed files
		}
		for n, edit := range rec.Conversation.Edits {
			if edit.Kind != precis.KindCondensation {
				continue
			}
			r := recordedSummary{name: fmt.Sprintf("%s-%d", filepath.Base(p), n)}
			to := 0
			for _, part := range edit.Replace {
				for _, m := range part.With {
					r.text += m.PlainText() + "\n"
				}
				to = part.To
			}
			r.in = inputFor(rec.Conversation.System.PlainText(), rec.Conversation.Transcript.Messages()[:to])
			if words(r.in.messages) > 5*len(r.text) { // of others the messages are gone
				out = append(out, r)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// words counts the bytes of what messages hold.
func words(msgs []precis.Message) (n int) {
	for _, m := range msgs {
		n += len(retain.FoldedText([]precis.Message{m}))
	}
	return n
}

func inputFor(system string, msgs []precis.Message) *input {
	x := retain.Read(system, msgs)
	worth := x.Worths()
	return &input{x: x, worth: worth, reuse: x.NewReusePredictor(worth), copies: retain.NewLineSet(), cover: x.NewCoverage(), messages: msgs, covered: func(int) bool { return true },
		count: EstimateTokens, tokens: 4000, others: func() string { return "" }, sources: system}
}

// plant is a summary with one false statement.
type plant struct{ kind, statement, text string }

// doubtedBy reports whether a doubt is one of the false statement; it shows the statement with one space between words.
func (p plant) doubtedBy(d verify.Doubt) bool {
	said := strings.Join(strings.Fields(p.statement), " ")
	return strings.Contains(said, strings.Join(strings.Fields(d.Text), " ")) || strings.HasPrefix(d.Text, said[:min(len(said), 40)])
}

// TestPlants counts what is doubted of summaries that agent programs recorded, nearly all of which is true, and what is
// found of a sample of the false statements that are made of them by rules.
func TestPlants(t *testing.T) {
	dir := os.Getenv("PRECIS_TRANSCRIPTS")
	if dir == "" {
		t.Skip("PRECIS_TRANSCRIPTS names no directory of recordings")
	}
	if testing.Short() {
		t.Skip("a second for each of the summaries, in one goroutine")
	}
	runs := sample.OneIn(t, 0, 16)
	statements, doubted := 0, 0
	planted, found := map[string]int{}, map[string]int{}
	for _, r := range summariesIn(t, dir) {
		before := map[string]bool{}
		for _, d := range r.in.verifyPast().Doubts(r.text, 0, false) {
			before[d.Kind+d.Text] = true
			doubted++
			t.Logf("%s: %s %q: %s %v", r.name, d.Kind, d.Text, d.Why, d.Handle)
		}
		statements += len(verify.Statements(r.text))
		text, err := Writer{}.Summarize(t.Context(), policy.SummaryRequest{Messages: r.in.messages})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range r.in.verifyPast().Doubts(text.Text, 0, false) {
			t.Errorf("%s: of its digest: %s %q: %s", r.name, d.Kind, d.Text, d.Why)
		}
		for i, p := range plantsIn(r) {
			if !runs(i) {
				continue
			}
			planted[p.kind]++
			hit := slices.ContainsFunc(r.in.verifyPast().Doubts(p.text, 0, false), func(d verify.Doubt) bool {
				return !before[d.Kind+d.Text] && p.doubtedBy(d)
			})
			if hit {
				found[p.kind]++
			} else if os.Getenv("PRECIS_MISSED") != "" {
				t.Logf("missed: %s: %s: %s", r.name, p.kind, p.statement)
			}
		}
	}
	t.Logf("%d of %d statements of real summaries are doubted", doubted, statements)
	all, hits := 0, 0
	for kind, n := range planted {
		t.Logf("%-12s %3d of %3d found", kind, found[kind], n)
		all, hits = all+n, hits+found[kind]
	}
	t.Logf("%d of %d found", hits, all)
	if doubted*100 > statements {
		t.Errorf("%d of %d statements are doubted", doubted, statements)
	}
}

// change is a rule by which a true statement becomes a false one.
type change struct {
	kind string
	says *regexp.Regexp
	by   string
}

var falsifications = []change{
	{"outcome", regexp.MustCompile(`\bpass\b`), "fail"}, {"outcome", regexp.MustCompile(`\bpasses\b`), "fails"}, {"outcome", regexp.MustCompile(`\bpassing\b`), "failing"},
	{"outcome", regexp.MustCompile(`\bpassed\b`), "failed"}, {"outcome", regexp.MustCompile(`\bsucceeded\b`), "failed"}, {"outcome", regexp.MustCompile(`\bfailed\b`), "succeeded"},
	{"outcome", regexp.MustCompile(`\bfails\b`), "passes"}, {"outcome", regexp.MustCompile(`\bfailing\b`), "passing"}, {"outcome", regexp.MustCompile(`\b[Ss]uccessfully\b`), "unsuccessfully"},
	{"outcome", regexp.MustCompile(`\bworks\b`), "does not work"},
}

var digits = regexp.MustCompile(`(?:^|[\s(~])(\d{1,5})(?:[\s,)+%]|ms|s\b|K\b|KB|M\b|MB|$)`)

// plantsIn returns the false statements that the rules make of a summary, a few of each rule.
func plantsIn(r recordedSummary) (out []plant) {
	const most = 3 // of a rule in one summary
	times := map[string]int{}
	replace := func(kind, rule string, s verify.Statement, by string) {
		if by != s.Text && times[rule] < most {
			times[rule]++
			out = append(out, plant{kind, by, r.text[:s.At] + by + r.text[s.At+len(s.Text):]})
		}
	}
	for _, s := range verify.Statements(r.text) {
		if s.Ahead || s.Quotes || len(strings.Fields(s.Text)) < 5 || strings.HasPrefix(s.Text, `"`) || r.text[s.At:s.At+len(s.Text)] != s.Text {
			continue
		}
		for _, c := range falsifications {
			if at := c.says.FindStringSubmatchIndex(s.Text); at != nil {
				by := c.says.ExpandString([]byte(s.Text[:at[0]]), c.by, s.Text, at)
				replace(c.kind, c.says.String(), s, string(by)+s.Text[at[1]:])
			}
		}
		if at := digits.FindStringSubmatchIndex(s.Text); at != nil && strings.Count(s.Text[:at[2]], "`")%2 == 0 {
			replace("number", fmt.Sprint("number", at[3]-at[2] > 1), s, s.Text[:at[2]]+otherNumber(s.Text[at[2]:at[3]])+s.Text[at[3]:])
		}
	}
	insert := func(kind, sentence string) {
		out = append(out, plant{kind, sentence, "# Work so far\n" + sentence + "\n" + r.text})
	}
	insert("error", "The build fails with E4711: flux capacitor overheated.")
	insert("error", "It stops with ERR_QUANTUM_STATE in the last step.")
	written, read := "", ""
	for _, f := range r.in.work().FileStates() {
		switch base := filepath.Base(f.Path); f.State {
		case effects.FileWritten, effects.FileCreated:
			written = base
		case effects.FileRead:
			read = base
		}
	}
	if written != "" {
		insert("file", "Deleted "+written+".")
		insert("file", "The file "+written+" was removed because it is not needed.")
		insert("file", "Renamed "+written+" to old_"+written+".")
		insert("file", "The helpers live in un"+written+" now.")
	}
	if read != "" {
		insert("file", "Created "+read+" with the new code.")
		insert("file", "Modified "+read+" so that it logs more.")
	}
	insert("file", "The lanes are in lanes_of_traffic.go.")
	for _, s := range []string{"The changes were pushed to origin.", "git push went through.", "Everything has been deployed to production.", "Version 9 has been published to npm."} {
		insert("deed", s)
	}
	return out
}

// otherNumber returns a number of as many digits that is another one.
func otherNumber(n string) string {
	b := []byte(n)
	if len(b) > 1 && b[len(b)-1] != b[len(b)-2] && b[len(b)-1] != '0' {
		b[len(b)-1], b[len(b)-2] = b[len(b)-2], b[len(b)-1]
		return string(b)
	}
	b[0] = '1' + (b[0]-'0'+2)%9
	return string(b)
}
