package sessions

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/formats"
	"github.com/precis-dev/precis/internal/content"
	"github.com/precis-dev/precis/models"
	"github.com/precis-dev/precis/policy"
)

// reader turns recordings into listed sessions.
type reader struct {
	manager *policy.Manager
	prices  func(model string) models.Prices // nil: unknown
}

// read reads a recording. If reading fails, u has the reason, and a file of a known program is also
// listed as [Unreadable]. If both results are empty, the file is no recording.
func (r reader) read(f found) (s *Session, u Unread) {
	s = &Session{ID: formats.NameOf(f.path), Agent: f.agent, Path: f.path, Size: f.size,
		Modified: f.modified.UTC()}
	rec, err := open(f.path)
	if err == nil {
		r.take(s, rec)
		return s, u
	}
	u, known := unreadOf(f.path, f.agent, err)
	if !known || f.agent == "" || precis.CodeOf(err) != precis.CodeInvalid {
		return nil, u
	}
	s.State, s.Problem, s.Last = Unreadable, u.Text, s.Modified
	return s, u
}

// reason returns the text of an error without the path.
func reason(err error, path string) string {
	var e *precis.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	place := strings.TrimPrefix(strings.TrimPrefix(e.Place, path), ": ")
	if place == "" || strings.HasPrefix(place, "/") {
		return e.Err.Error()
	}
	return place + ": " + e.Err.Error()
}

// open reads a recording with the edits of its own program.
func open(path string) (*archive.Recording, error) {
	src, err := formats.Load(path)
	if err != nil {
		return nil, err
	}
	return archive.Read(src, formats.All())
}

// take fills in the facts of a recording.
func (r reader) take(s *Session, rec *archive.Recording) {
	c, o := rec.Conversation, rec.Origin
	s.ID, s.Agent, s.Format = cmp.Or(c.ID, s.ID), cmp.Or(o.Agent, agentOf(rec, s.Agent),
		rec.Format), rec.Format
	s.Project, s.Parent, s.Model, s.Begun, s.Spent = o.Project, o.Parent, c.Model, o.Begun, o.Spent
	s.Window, s.requests = o.Window, o.Requests
	s.Title, s.Skipped = content.Title(c), rec.Skipped
	s.Messages = c.Transcript.Len()
	if rec.Skipped > 0 {
		s.Problem = rec.Warnings[0].String()
	}
	c.Measured = o.Measured
	r.count(s, c)
	for _, b := range c.Branches {
		s.Inside = append(s.Inside, Inside{ID: b.ID, Messages: b.Transcript.Len()})
	}
	s.State = stateOf(c.Transcript)
	if o.State == string(Completed) {
		s.State = Completed
	}
	if s.Last.IsZero() {
		s.Last = s.Modified
	}
	r.price(s)
}

// shared are formats that several programs write.
var shared = []string{"roo", "plain", "gemini", "claude-code", "opencode", "pi"}

// agentOf returns the program of a recording: the program of its place, unless the format belongs
// to one other program.
func agentOf(rec *archive.Recording, place string) string {
	if place != "" && slices.Contains(shared, rec.Format) {
		return place
	}
	return ""
}

// count counts messages, calls and tokens; View is the status's count.
func (r reader) count(s *Session, c *precis.Conversation) {
	meter := r.manager.NewMeter()
	meter.For(c)
	s.Tokens = meter.Overhead(c).Sum()
	speech := c.Transcript.Speech()
	for i, m := range c.Transcript.Messages() {
		s.Tokens += meter.Message(m)
		if speech.BeginsTurn(i) {
			s.Turns++
		}
		if m.Time.After(s.Last) {
			s.Last = m.Time.UTC()
		}
		if s.Begun.IsZero() {
			s.Begun = m.Time.UTC()
		}
		s.calls(m)
	}
	all := precis.Window{Tokens: math.MaxInt32}
	st, err := r.manager.Status(policy.Request{Conversation: c, Meter: meter, Window: all})
	if err != nil {
		return // the conversation has no messages
	}
	s.View, s.Hidden, s.Condensations = st.Tokens, s.Messages-st.Shown, st.Condensations+st.Truncations
	if shown := meter.Overhead(c).Sum() + meter.View(precis.View(c.Transcript, c.Edits)); shown > 0 {
		s.Tokens = int(int64(s.Tokens) * int64(st.Tokens) / int64(shown))
	}
	s.Lost = max(0, s.Tokens-s.View)
}

// calls counts the tool calls of a message and the results that are errors.
func (s *Session) calls(m precis.Message) {
	for _, b := range m.Content {
		switch b := b.(type) {
		case precis.ToolUse:
			if s.Tools == nil {
				s.Tools = map[string]int{}
			}
			s.Tools[b.Name]++
		case precis.ToolResult:
			if b.IsError {
				s.Failures++
			}
		}
	}
}

// price computes the cost of a session.
func (r reader) price(s *Session) {
	s.Cost, s.Estimated = 0, false
	for _, sp := range s.Spent {
		usd, estimated := r.cost(sp, s.Model)
		s.Cost += usd
		s.Estimated = s.Estimated || estimated
	}
}

// cost returns the recorded cost, plus the cost by catalog prices of requests without a recorded
// one. If the spend names no model, the model of the session is used.
func (r reader) cost(sp archive.ModelUsage, model string) (usd float64, estimated bool) {
	if r.prices == nil || sp.Unpriced == (precis.Usage{}) {
		return sp.CostUSD, false
	}
	p := r.prices(cmp.Or(sp.Model, model))
	if !p.Known() {
		return sp.CostUSD, false
	}
	p.Long = nil // usage is a sum of requests that may each be short
	m := models.Model{ID: cmp.Or(sp.Model, model), Prices: p}
	return sp.CostUSD + models.Bill(models.Anthropic, m, sp.Unpriced).USD, true
}

// stateOf determines the state from the last messages.
func stateOf(t *precis.Transcript) State {
	if t.Len() == 0 {
		return Interrupted
	}
	last := t.At(t.Len() - 1)
	calls := slices.ContainsFunc(last.Content,
		func(b precis.Block) bool { _, ok := b.(precis.ToolUse); return ok })
	if last.Role == precis.RoleAssistant && !calls {
		return Answered
	}
	return Interrupted
}

// stamp is the modification time as the index stores it.
func (f found) stamp() int64 { return f.modified.Truncate(time.Microsecond).UnixMicro() }
