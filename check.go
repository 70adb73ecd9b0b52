package precis

import (
	"fmt"
	"slices"
	"sort"
)

// Breach is one reason for a model's API to refuse a list of messages.
type Breach struct {
	Message int    `json:"message"` // index in the list; -1: the list as a whole
	Rule    string `json:"rule"`    // pairing, order, role, empty or duplicate
	Detail  string `json:"detail"`
}

// String returns "message 3: pairing: …".
func (b Breach) String() string {
	if b.Message < 0 {
		return b.Rule + ": " + b.Detail
	}
	return fmt.Sprintf("message %d: %s: %s", b.Message, b.Rule, b.Detail)
}

// Check returns every breach of the rules that all dialects share, in the strictest wording, of the
// Anthropic Messages API. Consecutive messages of one role count as one turn. The rules: the first
// turn is the user's; no message and no text block is empty; tool uses are in assistant turns and
// tool results in user turns; every tool use is answered in the very next turn, before any other
// content, exactly once; every answer has its tool use in the turn before; no two tool uses share
// an ID; a result of a tool of the provider's server comes after its use, and such a use has its
// result when the model has spoken again. System messages belong to no turn, and may be without
// content if they carry settings; their valid places differ between dialects, see [CheckPlacement].
// An empty list has no breach. [Repair] mends them all.
func Check(view []Message) []Breach {
	c := checker{seen: map[string]bool{}, served: map[string]int{}}
	for i, m := range view {
		c.message(i, m)
	}
	c.close(len(view))
	sort.SliceStable(c.breaches, func(i, j int) bool {
		a, b := c.breaches[i], c.breaches[j]
		if a.Message != b.Message {
			return a.Message < b.Message
		}
		return a.Detail < b.Detail
	})
	return c.breaches
}

type checker struct {
	breaches []Breach
	role     Role // of the current turn
	// tool uses of the last assistant turn not yet answered, with their message
	unansweredUses map[string]int
	prev           map[string]bool // all tool uses of the last assistant turn
	uses           map[string]int  // tool uses of the current assistant turn
	seen           map[string]bool
	served         map[string]int // uses of the server's tools: their message, -1 once they are answered
	lastTalk       int            // the first message of the model's last turn
	other          bool           // the current user turn has content other than tool results
	turns          int
}

func (c *checker) add(i int, rule, format string, args ...any) {
	c.breaches = append(c.breaches, Breach{Message: i, Rule: rule, Detail: fmt.Sprintf(format, args...)})
}

func (c *checker) message(i int, m Message) {
	if m.Role != RoleUser && m.Role != RoleAssistant && m.Role != RoleSystem {
		c.add(i, "role", "unknown role %q", m.Role)
		return
	}
	if len(m.Content) == 0 && !m.OnlySettings() {
		c.add(i, "empty", "the message has no content")
	}
	if m.Role != RoleSystem && (m.Role != c.role || c.turns == 0) {
		c.turn(i, m.Role)
	}
	for _, b := range m.Content {
		if r, ok := b.(ToolResult); ok {
			if _, open := c.unansweredUses[r.ToolUseID]; !open && answersNothing(m, r) {
				continue // an item of the program
			}
		}
		c.block(i, m.Role, b)
	}
}

// turn starts a new turn at message i.
func (c *checker) turn(i int, role Role) {
	if c.turns == 0 && role == RoleAssistant {
		c.add(i, "role", "the first turn is the assistant's")
	}
	c.unanswered(i)
	if role == RoleUser {
		c.unansweredUses, c.prev, c.uses = c.uses, keys(c.uses), nil
	} else {
		c.unansweredUses, c.prev, c.uses = nil, nil, nil
		c.lastTalk = i
	}
	c.role, c.other = role, false
	c.turns++
}

// unanswered reports the tool uses that the ending user turn did not answer.
func (c *checker) unanswered(i int) {
	for id, at := range c.unansweredUses {
		c.add(at, "pairing", "tool use %q has no result in the next turn", id)
	}
	c.unansweredUses = nil
}

func (c *checker) close(n int) {
	if c.role == RoleAssistant {
		c.unansweredUses = c.uses
	}
	c.unanswered(n)
	for id, at := range c.served {
		if at >= 0 && at < c.lastTalk {
			c.add(at, "pairing", "use %q of the server's tool has no result", id)
		}
	}
}

func (c *checker) block(i int, role Role, b Block) {
	switch b := b.(type) {
	case Text:
		if blank(b.Text) {
			c.add(i, "empty", "a text block is blank")
		}
		c.other = c.other || role != RoleSystem
	case ToolUse:
		if role != RoleAssistant {
			c.add(i, "role", "tool use %q in a %s message", b.ID, role)
			return
		}
		if c.seen[b.ID] {
			c.add(i, "duplicate", "tool use ID %q is used twice", b.ID)
		}
		c.seen[b.ID] = true
		if c.uses == nil {
			c.uses = map[string]int{}
		}
		c.uses[b.ID] = i
	case ToolResult:
		c.result(i, role, b)
	case Opaque:
		c.other = c.other || role != RoleSystem
		c.checkServed(i, role, b)
	default:
		c.other = c.other || role != RoleSystem
	}
}

// checkServed checks a block of a tool that the provider's server runs.
func (c *checker) checkServed(i int, role Role, b Opaque) {
	id, half := servedHalf(b)
	_, used := c.served[id]
	switch {
	case half == asks && role == RoleAssistant:
		c.served[id] = i
	case half == answers && !used && role == RoleAssistant:
		c.add(i, "pairing", "result %q of the server's tool has no use before it", id)
	case half == answers && used:
		c.served[id] = -1
	}
}

func (c *checker) result(i int, role Role, b ToolResult) {
	if role != RoleUser {
		c.add(i, "role", "tool result %q in a %s message", b.ToolUseID, role)
		return
	}
	if _, open := c.unansweredUses[b.ToolUseID]; !open {
		if c.prev[b.ToolUseID] {
			c.add(i, "duplicate", "tool use %q is answered twice", b.ToolUseID)
		} else {
			c.add(i, "pairing", "tool result %q has no tool use in the turn before", b.ToolUseID)
		}
	}
	delete(c.unansweredUses, b.ToolUseID)
	if c.other {
		c.add(i, "order", "tool result %q comes after other content of its turn", b.ToolUseID)
	}
}

func keys(m map[string]int) map[string]bool {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]bool, len(m))
	for k := range m {
		out[k] = true
	}
	return out
}

// CheckEdit reports whether e can be added to edits on t: every span lies
// inside the transcript and is a union of whole units of the view (edits nest
// and never cross), every block exists, every undone edit is in force. The
// error is [CodeConflict] for crossing spans, [CodeNotFound] or [CodeInvalid]
// otherwise. To check many edits in a row use a [EditChecker].
func CheckEdit(t *Transcript, edits []Edit, e Edit) error {
	return NewEditChecker(t, edits).check(e)
}

// EditChecker checks edits that are added one after another. It keeps the units of the view between
// them, so that each check costs no more than the change; only an edit that undoes others makes it
// render the view again. It is not safe for concurrent use.
type EditChecker struct {
	t     *Transcript
	edits []Edit
	byID  map[string]int // index in edits

	undoneByIndex []bool    // by index in edits; nil: to be computed
	view          *renderer // nil: to be rendered
}

// NewEditChecker returns a checker for edits that are added to those given, which are
// not checked.
func NewEditChecker(t *Transcript, edits []Edit) *EditChecker {
	c := &EditChecker{t: t, edits: slices.Clone(edits), byID: make(map[string]int, len(edits))}
	for i, e := range edits {
		c.byID[e.ID] = i
	}
	return c
}

// Add adds an edit, or returns the error of [CheckEdit] and does not.
func (c *EditChecker) Add(e Edit) error {
	if err := c.check(e); err != nil {
		return err
	}
	c.byID[e.ID] = len(c.edits)
	c.edits = append(c.edits, e)
	c.undoneByIndex = nil
	switch {
	case len(e.Undoes) > 0:
		c.view = nil
	case c.view != nil:
		c.view.applyEdit(e)
	}
	return nil
}

func (c *EditChecker) check(e Edit) error {
	const op = "check edit"
	if e.Kind == KindUndo {
		for _, id := range e.Undoes {
			if !c.inForce(id) {
				return Errorf(CodeNotFound, op, "edit %s is not in force", id)
			}
		}
	}
	if _, there := c.byID[e.ID]; there && e.ID != "" {
		return Errorf(CodeConflict, op, "there is an edit %s already", e.ID)
	}
	if err := disjoint(e.Replace); err != nil {
		return err
	}
	if len(e.Replace) == 0 {
		return nil
	}
	view := c.after(e.Undoes)
	for _, r := range e.Replace {
		if err := view.check(r); err != nil {
			return err
		}
	}
	return nil
}

// check reports whether a replacement fits the view.
func (r *renderer) check(p Replacement) error {
	const op = "check edit"
	if p.From < 0 || p.To < p.From || p.To > len(r.msgs) {
		return Errorf(CodeInvalid, op, "span %d to %d lies outside the %d messages", p.From, p.To,
			len(r.msgs))
	}
	if p.Block != nil {
		if p.To != p.From+1 || r.find(p.From, *p.Block) < 0 {
			return Errorf(CodeNotFound, op, "message %d has no such block %d", p.From, p.Block.Index)
		}
		return nil
	}
	if _, _, ok := covered(r.units, p.From, p.To); !ok && !p.Restore {
		return Errorf(CodeConflict, op, "span %s crosses an earlier edit", SpanHandle(p.From, p.To))
	}
	return nil
}

// inForce reports whether the edit (an undo included) exists and is not undone.
func (c *EditChecker) inForce(id string) bool {
	if c.undoneByIndex == nil {
		c.undoneByIndex = c.undone(nil)
	}
	i, ok := c.byID[id]
	return ok && !c.undoneByIndex[i]
}

// undone returns which edits are not in force after more IDs are undone; see [Undone].
func (c *EditChecker) undone(more []string) []bool {
	gone := make([]bool, len(c.edits))
	mark := func(ids []string) {
		for _, id := range ids {
			if i, ok := c.byID[id]; ok {
				gone[i] = true
			}
		}
	}
	mark(more)
	for i := len(c.edits) - 1; i >= 0; i-- {
		if !gone[i] {
			mark(c.edits[i].Undoes)
		}
	}
	return gone
}

// after returns the view after edits are undone.
func (c *EditChecker) after(undoes []string) *renderer {
	if len(undoes) > 0 {
		return c.render(c.undone(undoes))
	}
	if c.view == nil {
		c.view = c.render(c.undone(nil))
	}
	return c.view
}

// render returns the units of the view without the edits that are gone, before their
// messages are filled in.
func (c *EditChecker) render(gone []bool) *renderer {
	r := newRenderer(c.t)
	for i, e := range c.edits {
		if !gone[i] && e.Kind != KindUndo {
			r.applyEdit(e)
		}
	}
	return r
}

// disjoint returns a conflict when spans of one edit overlap.
func disjoint(list []Replacement) error {
	var spans []Replacement
	for _, r := range list {
		if r.Block == nil {
			spans = append(spans, r)
		}
	}
	slices.SortFunc(spans, func(a, b Replacement) int { return a.From - b.From })
	for i := 1; i < len(spans); i++ {
		if spans[i].From < spans[i-1].To {
			return Errorf(CodeConflict, "check edit", "spans %s and %s of one edit overlap",
				SpanHandle(spans[i-1].From, spans[i-1].To), SpanHandle(spans[i].From, spans[i].To))
		}
	}
	return nil
}

// Dialect knows one API's rules. Implementations are stateless.
type Dialect interface {
	Name() string
	// Check returns the breaches for which the API would refuse these messages.
	Check(view []Message) []Breach
}
