package hook

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/formats"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/retain"
)

// digestShare: a digest may fill at most one part in digestShare of a model's window.
const digestShare = 10

// leastDigest is the smallest useful digest, in tokens.
const leastDigest = 300

// record is the recording of a session.
type record struct {
	conv *precis.Conversation
	msgs []precis.Message // without messages taken back and texts that the model gets anyway

	programTexts string // texts of the program left out of msgs, see withoutGiven
}

// readRate is the number of bytes of a recording that are read and processed in a second. A
// recording too long for the deadline is not read at all.
const readRate = 4 << 20

// open reads the recording that an event names.
func (c *call) open() (record, error) {
	path := c.transcript()
	if path == "" {
		return record{}, errNothing("no transcript is named")
	}
	most := int64(c.o.deadline.Seconds() * readRate)
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() > most {
		return record{}, errNothing(tooLong)
	}
	src, err := formats.Load(path)
	if err != nil {
		return record{}, errNothing("the transcript cannot be read")
	}
	return c.recordOf(src)
}

// transcript returns the path of the recording that an event is about: the path in the event,
// unless that file is missing, or has the name of another session and a file of this session
// exists.
func (c *call) transcript() string {
	path := c.input.Transcript
	if c.o.Find == nil || c.input.Session == "" {
		return path
	}
	_, err := os.Stat(path)
	if path != "" && err == nil && strings.Contains(filepath.Base(path), c.input.Session) {
		return path
	}
	return cmp.Or(c.o.Find(c.Host, c.input.Session), path)
}

// recordOf reads a recording.
func (c *call) recordOf(src archive.Source) (record, error) {
	rec, err := archive.Read(src, formats.All())
	if err != nil {
		return record{}, err
	}
	r := record{conv: rec.Conversation}
	r.msgs, r.programTexts = withoutGiven(c.Host,
		retain.WithoutRewound(rec.Conversation.Transcript, rec.Conversation.Edits))
	if len(r.msgs) == 0 {
		return r, errNothing("the transcript has no messages")
	}
	return r, nil
}

// besideSummary writes digests that stand beside a summary by a model: what such a summary tends to
// lack, the words of the user, failures, files, steps and jobs.
var besideSummary = digest.Writer{Brief: true}

// digest has w write a digest of the conversation with at most the given tokens.
func (r record) digest(ctx context.Context, tokens int, w digest.Writer) (string, error) {
	d, err := w.Summarize(ctx, policy.SummaryRequest{Conversation: r.conv, Messages: r.msgs,
		MaxTokens: tokens})
	if err == nil && d.Text == "" {
		err = errNothing("there is nothing to say")
	}
	return d.Text, err
}

// size is the maximum size of a digest, in tokens.
func (c *call) size(r record) int {
	w := c.o.Window(cmp.Or(c.input.Model, r.conv.Model))
	return max(min(digest.DefaultTokens, w.Tokens/digestShare), leastDigest)
}

// shown returns the texts of the newest recorded condensation: summary is the model's text, or "",
// and beside are all other texts. Known is the part of beside that may support statements, see
// source.
func (r record) shown() (summary, beside, known string) {
	all := precis.Active(r.conv.Edits)
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Kind != precis.KindCondensation {
			continue
		}
		var words []string
		var others, sources strings.Builder
		for _, rep := range all[i].Replace {
			speech := precis.SpeechOf(rep.With)
			for k, m := range rep.With {
				for _, s := range speech.Spans(k) {
					block := m.Content[s.Block]
					if result, ok := block.(precis.ToolResult); ok {
						block = result.Content[s.Part]
					}
					text := block.(precis.Text).Text[s.From:s.To]
					if s.Attribution.Author == precis.AuthorRecap && !harness.IsOurs(text) {
						words = append(words, harness.SummaryWords(text))
					} else {
						others.WriteString(text + "\n")
						sources.WriteString(source(text) + "\n")
					}
				}
			}
		}
		return strings.TrimSpace(strings.Join(words, "\n")), others.String(), sources.String()
	}
	return "", "", ""
}

// compacted returns how many messages precede the end of what the newest recorded condensation replaces: the
// messages after them are in view. 0: there is no condensation.
func (r record) compacted() (n int) {
	all := precis.Active(r.conv.Edits)
	for i := len(all) - 1; i >= 0 && n == 0; i-- {
		if all[i].Kind == precis.KindCondensation {
			for _, rep := range all[i].Replace {
				n = max(n, rep.To)
			}
		}
	}
	return n
}

// wordsOf returns all text of messages, results of calls included.
func wordsOf(msgs []precis.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		for _, block := range m.Content {
			switch block := block.(type) {
			case precis.Text:
				b.WriteString(block.Text + "\n")
			case precis.ToolUse:
				b.WriteString(string(block.Input) + "\n")
			case precis.ToolResult:
				b.WriteString(block.Text() + "\n")
			}
		}
	}
	return b.String()
}

// roomForMore is the most tokens that may be added to a summary and a digest.
const roomForMore = 1500

// missingText returns the text that must be added to a program's own summary so that it holds the
// likely facts, in at most room tokens; "" when it and beside, the other text shown to the model,
// hold at least nine tenths. It records how many facts the summary has by itself. Only the
// model's text is checked, against the conversation and the texts given by the program.
func (c *call) missingText(r record, summary, beside string, room int) string {
	recorded, _, known := r.shown()
	msgs, n := r.msgs, r.compacted()
	if summary == recorded && n < len(msgs) {
		// a summary that is not recorded yet replaces later messages, too
		beside += wordsOf(msgs[n:])
		msgs = msgs[:n]
	}
	summary = harness.SummaryWords(summary)
	conv := *r.conv
	conv.System = precis.NewText(precis.RoleSystem, conv.System.PlainText()+"\n"+r.programTexts+known)
	ask := func(beside string, room int) digest.Repaired {
		return digest.Repair(
			policy.SummaryRequest{Conversation: &conv, Messages: msgs, Previous: summary,
				MaxTokens: digest.EstimateTokens(summary) + room},
			digest.RepairOptions{Beside: beside, Brief: true},
		)
	}
	alone := ask("", 0) // room 0 adds no text and only measures
	both := ask(beside, room)
	c.entry.Facts, c.entry.Held = alone.Retention.Anchors, alone.Retention.Kept-alone.Retention.Repaired
	if before := both.Retention.Kept - both.Retention.Repaired; beside != "" && len(both.Doubts) == 0 &&
		before*10 >= both.Retention.Anchors*9 {
		return "" // the digest covers at least nine tenths of the facts
	}
	c.entry.GivenBack = max(both.Retention.Kept-c.entry.Held, 0)
	more, _ := strings.CutPrefix(both.Text, summary)
	return strings.TrimSpace(more)
}
