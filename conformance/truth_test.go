package conformance

import (
	"encoding/json"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/internal/plain"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/policy"
)

// What a digest says of a message is looked up in that message, by means of its own: the words of persons and of the agent must
// stand in it, a command must have been run in it and have ended as it is told, and a file must be named in it.

var (
	entryOf    = regexp.MustCompile(`^- m(\d+)(?:, in its reasoning)?(?:: | )`)
	noteBehind = regexp.MustCompile(`\s*\[(?:(?:passed|failed|edited) since|edited at once|the user, m\d+)[^\]]*\]`)
	leftOut    = regexp.MustCompile(`\[… [^\]]*…?\]|…`)
	runTold    = regexp.MustCompile("^`(.*?)`(?: ×\\d+)?(?: \\([^)]*\\))? → (ok|FAILED)")
	fileTold   = regexp.MustCompile(`^- (\S+) .*?\(m(\d+)\)`)
	badEnd     = regexp.MustCompile(`(?i)exit(?:ed)?(?: with)?[ _-]?(?:code|status)["']?[:= ]+[1-9]|\b(?:error|fail|panic|exception|not found|denied|refused|cannot|unable|invalid|unknown|undefined|no such|usage|timed? ?out|abort|fatal|warning|expected|not recogni[sz]ed|no module|exited|killed|can't|traceback|problem|redeclared|mismatch|missing)`)
	exitCode   = regexp.MustCompile(`(?i)^(?:<error>)?(?:exit code:? |command failed with exit code )[1-9]`)
)

// spokenBy are tools by which agents talk to their users.
var spokenBy = map[string]bool{"attempt_completion": true, "plan_mode_respond": true, "act_mode_respond": true, "ask_followup_question": true, "finish": true, "task_complete": true}

// untruth is a statement of a digest that its message does not bear out.
type untruth struct{ section, line string }

// untruths returns the number of statements of a digest that can be looked up, and those that are not borne out.
func untruths(text string, msgs []precis.Message) (statements int, out []untruth) {
	words := make([]string, len(msgs)) // of the messages, with the results in them, white space folded
	for i, m := range msgs {
		var all strings.Builder
		for _, s := range textsOf(m) {
			all.WriteString(s + "\n")
		}
		for _, b := range m.Content {
			switch b := b.(type) {
			case precis.Thinking:
				all.WriteString(b.Text + "\n")
			case precis.ToolUse:
				if spokenBy[b.Name] {
					for _, s := range jsonspan.Strings(b.Input) {
						all.WriteString(s + "\n")
					}
				}
			}
		}
		words[i] = folded(all.String())
	}
	runs := map[int][]toolcall.Call{}
	for _, c := range toolcall.Find(msgs) {
		runs[c.Use.From] = append(runs[c.Use.From], c)
	}
	section, at := "", -1
	check := func(line string, holds bool) {
		if statements++; !holds {
			out = append(out, untruth{section, line})
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "## ") {
			section, at = line, -1
			continue
		}
		rest := line
		if m := entryOf.FindStringSubmatch(line); m != nil {
			at, _ = strconv.Atoi(m[1])
			rest = line[len(m[0]):]
		} else if strings.HasPrefix(line, "- ") {
			at = -1
		}
		if at >= len(msgs) {
			check(line, false)
			continue
		}
		switch {
		case strings.HasPrefix(section, "## The user's requests"), strings.HasPrefix(section, "## Where the work stands"):
			if at >= 0 && !strings.HasPrefix(strings.TrimSpace(rest), "(") {
				if parts := partsOf(rest); len(parts) > 0 {
					check(line, allIn(parts, words[at]))
				}
			}
		case strings.HasPrefix(section, "## Last results"):
			if m := runTold.FindStringSubmatch(rest); m != nil && at >= 0 {
				check(line, endedSo(m[1], m[2] == "FAILED", runs[at]))
			}
		case strings.HasPrefix(section, "## Files written"):
			if m := fileTold.FindStringSubmatch(line); m != nil {
				n, _ := strconv.Atoi(m[2])
				check(line, n < len(msgs) && isNamedIn(path.Base(strings.ReplaceAll(m[1], "\\", "/")), msgs[n:min(n+2, len(msgs))]...))
			}
		}
	}
	return statements, out
}

// partsOf returns the parts of a line that are word for word.
func partsOf(line string) (out []string) {
	const least = 12 // bytes
	for _, p := range leftOut.Split(noteBehind.ReplaceAllString(line, ""), -1) {
		if p = folded(p); len(p) >= least {
			out = append(out, p)
		}
	}
	return out
}

func folded(s string) string { return strings.Join(strings.Fields(plain.Text(s)), " ") }

func allIn(parts []string, text string) bool {
	for _, p := range parts {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return true
}

// endedSo reports whether one of the calls ran a command and ended as it is told.
func endedSo(line string, failed bool, calls []toolcall.Call) bool {
	head, _, _ := strings.Cut(line, "…")
	head = strings.TrimSpace(head)
	for _, c := range calls {
		if !strings.Contains(folded(c.Line), folded(head)) {
			continue
		}
		if failed && (c.IsError || badEnd.MatchString(c.Text)) || !failed && !c.IsError && !exitCode.MatchString(strings.TrimSpace(c.Text)) {
			return true
		}
	}
	return false
}

// isNamedIn reports whether the call of a message or its result names a file.
func isNamedIn(base string, msgs ...precis.Message) bool {
	all, err := json.Marshal(msgs)
	return err == nil && strings.Contains(string(all), base)
}

// TestTruthOfTheText measures how many statements of digests of 3,500 tokens the messages that they name do not bear out, at the
// end of recordings and at a third and two thirds of them. The bound is what is asked for; most of what is left are words that are
// written otherwise than they were said, such as a picture's name in their place.
func TestTruthOfTheText(t *testing.T) {
	const bound = 0.005
	t.Parallel()
	statements, wrong, shares := 0, 0, []float64(nil)
	for _, p := range sampledRecordings(t, 0, 3) {
		rec := readRecording(t, p)
		if rec == nil || rec.Conversation == nil {
			continue // TestTranscripts reads them all
		}
		all := rec.Conversation.Transcript.Messages()
		for cut := 1; cut <= 3; cut++ {
			msgs := all[:len(all)*cut/3]
			if len(msgs) < 6 {
				continue
			}
			s, err := digest.Writer{}.Summarize(t.Context(), policy.SummaryRequest{Messages: msgs, Conversation: &precis.Conversation{System: rec.Conversation.System}})
			if err != nil {
				t.Fatal(err)
			}
			n, bad := untruths(s.Text, msgs)
			for _, u := range bad {
				t.Logf("%s, %d messages: %s: %s", filepath.Base(p), len(msgs), u.section, u.line)
			}
			if statements, wrong = statements+n, wrong+len(bad); n > 0 {
				shares = append(shares, float64(len(bad))/float64(n))
			}
		}
	}
	mean, half := interval(shares)
	t.Logf("truth of the text, %d cases, %d statements: %d not borne out, %.4f ± %.4f of each", len(shares), statements, wrong, mean, half)
	if statements < 20 || float64(wrong) > bound*float64(statements) {
		t.Errorf("%d of %d statements are not borne out", wrong, statements)
	}
}

// TestUntruthsAreFound: each kind of statement that is false is found.
func TestUntruthsAreFound(t *testing.T) {
	p := filepath.Join("..", "examples", "add-a-counter.jsonl")
	rec := readRecording(t, p)
	msgs := rec.Conversation.Transcript.Messages()
	s, err := digest.Writer{}.Summarize(t.Context(), policy.SummaryRequest{Messages: msgs, Conversation: rec.Conversation})
	if err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile(`(?m)^(- m)(\d+): `)
	for name, by := range map[string]func(string) string{
		"nothing": func(s string) string { return s },
		"another message": func(s string) string {
			return said.ReplaceAllStringFunc(s, func(m string) string { return strings.Replace(m, "- m", "- m1", 1) })
		},
		"another end": func(s string) string {
			return strings.NewReplacer("→ ok", "→ FAILED", "→ FAILED", "→ ok").Replace(s)
		},
		"another word": func(s string) string { return strings.ReplaceAll(s, "counter", "gauge") },
	} {
		n, bad := untruths(by(s.Text), msgs)
		if n == 0 || (len(bad) == 0) != (name == "nothing") {
			t.Errorf("%s: %d of %d: %v", name, len(bad), n, bad)
		}
	}
}
