package archive

import (
	"strings"
	"time"

	"github.com/precis-dev/precis"
)

// RecordCondensation records in c a condensation by the recording program at the end of c's transcript so
// far: messages [0,to) were replaced by with. Readers call it at each such entry, so all spans
// begin at 0 and grow. Report holds the known facts; its Trigger and Messages are set here. If the
// span is empty or shorter than the previous one, the error is of code conflict and c is unchanged.
func RecordCondensation(c *precis.Conversation, to int, with []precis.Message, at time.Time,
	report precis.EditReport) error {
	const op = "record condensation"
	before := 0
	for _, e := range precis.Active(c.Edits) {
		if e.Kind == precis.KindCondensation {
			before = e.Replace[0].To
		}
	}
	if to <= 0 || to < before || to > c.Transcript.Len() {
		return precis.Errorf(precis.CodeConflict, op, "%d messages of %d, %d were condensed before", to,
			c.Transcript.Len(), before)
	}
	report.Trigger, report.Messages = string(precis.TriggeredRecorded), to
	e := precis.Edit{
		Kind: precis.KindCondensation, Time: at, Report: report,
		Replace: []precis.Replacement{{From: 0, To: to, With: with}},
	}
	if err := e.Identify(c.Transcript); err != nil {
		return err
	}
	for i := len(c.Edits) - 1; i >= 0 && c.Edits[i].Seen == e.Seen; i-- {
		if c.Edits[i].ID == e.ID {
			return precis.Errorf(precis.CodeConflict, op, "the same condensation is recorded twice")
		}
	}
	c.Edits = append(c.Edits, e)
	return nil
}

// WithoutBlank returns m without text blocks of only white space, which no API accepts. A message
// without such blocks is returned unchanged; otherwise the result has no raw bytes.
func WithoutBlank(m precis.Message) precis.Message {
	kept := make([]precis.Block, 0, len(m.Content))
	for _, b := range m.Content {
		if t, ok := b.(precis.Text); ok && strings.TrimSpace(t.Text) == "" {
			continue
		}
		kept = append(kept, b)
	}
	if len(kept) < len(m.Content) {
		m.Content, m.Raw = kept, nil
	}
	return m
}
