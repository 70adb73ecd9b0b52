package codex

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire/responses"
)

// keptWords limits the user messages that Codex keeps with its summary, newest first: 20,000
// tokens at four bytes a token, Codex's own rule.
const keptWords = 4 * 20_000

// compacted records that Codex replaced the conversation so far with the recorded history, or in
// older rollouts with the user's messages and the summary.
func (r *rollout) compacted(payload []byte, at time.Time, line int) error {
	f, err := jsonspan.Fields(payload)
	if err != nil {
		return err
	}
	var with []precis.Message
	if jsonspan.Kind(f["replacement_history"]) == '[' {
		if with, err = responses.DecodeMessages(f["replacement_history"]); err != nil {
			return err
		}
		with = slices.DeleteFunc(with,
			func(m precis.Message) bool { return len(archive.WithoutBlank(m).Content) == 0 })
	}
	summary, _ := jsonspan.String(f["message"])
	recap := precis.Attribution{Program: program, Author: precis.AuthorRecap, Act: precis.ActSummary}
	for i, m := range with {
		if m.Role == precis.RoleUser && m.PlainText() == summary {
			with[i].Attribution = recap
		}
	}
	if len(with) == 0 {
		if strings.TrimSpace(summary) == "" {
			return fmt.Errorf("the compaction has no summary")
		}
		m := precis.NewText(precis.RoleUser, summary)
		m.Time, m.Attribution = at, recap
		with = append(r.keptUserMessages(), m)
	}
	n := r.conv.Transcript.Len()
	if n == 0 { // the compacted messages are in another file
		r.conv.Transcript.Append(with...)
		return nil
	}
	report := precis.EditReport{Reason: "Codex compacted the conversation", TokensBefore: r.tokens}
	if err := archive.RecordCondensation(r.conv, n, with, at, report); err != nil {
		r.rec.Warn(fmt.Sprintf("line %d", line), "the compaction is left out: %v", err)
	}
	return nil
}

// keptUserMessages returns the user's own messages since the last compaction that Codex would keep, in
// order.
func (r *rollout) keptUserMessages() []precis.Message {
	var out []precis.Message
	from, left := 0, keptWords
	if n := len(r.conv.Edits); n > 0 {
		from = r.conv.Edits[n-1].Seen
		for _, m := range r.conv.Edits[n-1].Replace[0].With {
			if ownWords(m) {
				out = append(out, m)
			}
		}
	}
	for _, m := range r.conv.Transcript.Messages()[from:] {
		if ownWords(m) {
			out = append(out, m)
		}
	}
	first := len(out)
	for first > 0 && left >= len(out[first-1].PlainText()) {
		first--
		left -= len(out[first].PlainText())
	}
	return out[first:]
}

// ownWords reports whether a message is the user's own, and not text that Codex adds in the
// user's role.
func ownWords(m precis.Message) bool {
	if !m.IsUserTurn() {
		return false
	}
	text := strings.TrimSpace(m.PlainText())
	for _, head := range []string{"<environment_context>", "<user_instructions>", "# AGENTS.md instructions",
		"<turn_aborted>", "<skill>", "<user_shell_command>"} {
		if strings.HasPrefix(text, head) {
			return false
		}
	}
	return true
}
