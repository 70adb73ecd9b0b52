package sessions

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"precis"
	"precis/archive"
	"precis/archive/formats"
	"precis/internal/content"
	"precis/models"
)

// reader turns recordings into what is listed of them.
type reader struct {
	manager *precis.Manager
	prices  func(model string) models.Prices // nil: unknown
}

// read reads the recording that was found. What cannot be read is said in u; one of a
// known program is listed as [Unreadable] as well. Without both there is no recording.
func (r reader) read(f found) (s *Session, u Unread) {
	s = &Session{ID: formats.NameOf(f.path), Agent: f.agent, Path: f.path, Size: f.size, Modified: f.modified.UTC()}
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

// reason returns what is wrong, without the path.
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

// take fills in what a recording says.
func (r reader) take(s *Session, rec *archive.Recording) {
	c, o := rec.Conversation, rec.Origin
	s.ID, s.Agent, s.Format = cmp.Or(c.ID, s.ID), cmp.Or(o.Agent, agentOf(rec, s.Agent), rec.Format), rec.Format
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

// agentOf returns the program of a recording: that of its place, unless the format is
// another program's own.
func agentOf(rec *archive.Recording, place string) string {
	if place != "" && slices.Contains(shared, rec.Format) {
		return place
	}
	return ""
}

// count counts messages, calls and tokens; the view has the tokens of its status.
func (r reader) count(s *Session, c *precis.Conversation) {
	meter := r.manager.NewMeter()
	meter.For(c)
	s.Tokens = meter.Overhead(c).Sum()
	speech := c.Transcript.Speech()
	for i, m := range c.Transcript.Messages() {
		s.Tokens += meter.Message(m)
		if speech.Begins(i) {
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
	st, err := r.manager.Status(precis.Request{Conversation: c, Meter: meter, Window: all})
	if err != nil {
		return // it has no messages
	}
	s.View, s.Hidden, s.Condensations = st.Tokens, s.Messages-st.Shown, st.Condensations+st.Truncations
	if shown := meter.Overhead(c).Sum() + meter.View(precis.View(c.Transcript, c.Edits)); shown > 0 {
		s.Tokens = int(int64(s.Tokens) * int64(st.Tokens) / int64(shown))
	}
	s.Lost = max(0, s.Tokens-s.View)
}

// calls counts what a message calls, and which results are errors.
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

// price works out what a session cost.
func (r reader) price(s *Session) {
	s.Cost, s.Estimated = 0, false
	for _, sp := range s.Spent {
		usd, estimated := r.cost(sp, s.Model)
		s.Cost += usd
		s.Estimated = s.Estimated || estimated
	}
}

// cost returns what was spent: the cost that the program recorded, and by the catalog's prices
// that of requests for which it recorded none. The model of the session stands for one that is
// not named.
func (r reader) cost(sp archive.Spend, model string) (usd float64, estimated bool) {
	if r.prices == nil || sp.Unpriced == (precis.Usage{}) {
		return sp.CostUSD, false
	}
	p := r.prices(cmp.Or(sp.Model, model))
	if !p.Known() {
		return sp.CostUSD, false
	}
	p.Long = nil // sums of requests, each of which may be short
	m := models.Model{ID: cmp.Or(sp.Model, model), Prices: p}
	return sp.CostUSD + models.Bill(models.Anthropic, m, sp.Unpriced).USD, true
}

// stateOf says who had the last word.
func stateOf(t *precis.Transcript) State {
	if t.Len() == 0 {
		return Interrupted
	}
	last := t.At(t.Len() - 1)
	calls := slices.ContainsFunc(last.Content, func(b precis.Block) bool { _, ok := b.(precis.ToolUse); return ok })
	if last.Role == precis.RoleAssistant && !calls {
		return Answered
	}
	return Interrupted
}

// stamp is when a file was changed, as the index compares it.
func (f found) stamp() int64 { return f.modified.Truncate(time.Microsecond).UnixMicro() }
