package hook

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive/claudecode"
	"github.com/precis-dev/precis/archive/pi"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/wire/anthropic"
)

// A plugin module may perform the compaction of Claude Code: it gets the rows of the context and
// returns the rows that the model reads from then on. precis answers with its view of the
// recording. It stores the edits, so they accumulate over compactions as in the gateway. A row that
// stays is named by its number, because the module has it; other rows are written out. In any doubt
// the answer is empty, and Claude Code compacts by itself.

// reduction holds the members of a compaction request that are not in [input].
type reduction struct {
	Trigger      string `json:"trigger"`      // "manual": a person asks for it
	Instructions string `json:"instructions"` // the text that the person typed after /compact
	Context      struct {
		Tokens int `json:"tokens"` // of the newest request; 0: unknown
	} `json:"context"`
	reasoning   precis.ReasoningRule
	undoCommand string // the command that undoes the newest compaction
}

// compactInput is the input from the module of Claude Code.
type compactInput struct {
	reduction
	Rows []row `json:"rows"`
}

// row is a piece of the context: a user's text, results of calls, or a block of the model.
type row struct {
	Role    string      `json:"role"`
	Text    string      `json:"text"`
	Uses    []rowUse    `json:"toolUses"` // never null, because Claude Code refuses null
	Results []rowResult `json:"toolResults,omitempty"`
}

type rowUse struct {
	ID    string          `json:"tool_use_id"`
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
}

type rowResult struct {
	ID      string `json:"tool_use_id"`
	Text    string `json:"text"`
	IsError bool   `json:"isError"`
	// Size replaces the text of a context row; it is the text's length in units of UTF-16.
	Size int `json:"size,omitempty"`
}

// compaction is the answer: for Claude Code the rows in order (a new row, a [keptRow], or the
// number of a row to write anew), for pi the entries to append, and a line for the person. If no
// compaction is made, it holds the reason.
type compaction struct {
	Rows    []any      `json:"rows,omitempty"`
	Entries []pi.Draft `json:"entries,omitempty"`
	Said    string     `json:"said,omitempty"`
	Skip    string     `json:"skip,omitempty"`
	Why     string     `json:"why,omitempty"` // the reason why the program compacts by itself
}

// keptRow keeps a row with its handle, and so its reasoning and pictures. Other rows are sent as
// new ones: when a session is resumed, Claude Code shows a kept row twice, and a kept row of
// results brings back all rows before it.
type keptRow struct {
	Keep int `json:"keep"`
}

// undoCompaction are the instructions that undo the newest compaction.
const undoCompaction = "undo"

// mostRows is the maximum size of the answer in bytes; Claude Code accepts four MiB.
const mostRows = 7 << 19

// A view may have compactTo percent of the tokens in the context, or the size of the unanswered
// messages plus compactRoom percent. Claude Code gives up if the context is full again within three
// turns, three times in a row.
const (
	compactTo   = 30
	compactRoom = 5
)

// claudeLoaded notes that Claude Code has loaded the module.
func claudeLoaded(_ context.Context, c *call) ([]byte, error) {
	if err := markLoaded(c.o.State, c.Host); err != nil {
		return nil, errNothing("it cannot be noted")
	}
	return nil, errNothing("")
}

// claudeView answers a compaction.
func claudeView(ctx context.Context, c *call) ([]byte, error) {
	var in compactInput
	if json.Unmarshal(c.raw, &in) != nil || len(in.Rows) == 0 {
		return nil, errNothing("there are no rows")
	}
	r, x, err := c.recorded(ctx, in.Rows)
	if err != nil {
		return nil, err
	}
	conv := &precis.Conversation{ID: r.conv.ID, Model: r.conv.Model,
		Transcript: precis.NewTranscript(r.msgs...)}
	conv.Edits = withRecorded(c.ownEdits(conv.Transcript), r.conv.Edits)
	in.undoCommand = "/compact " + undoCompaction
	said, err := c.compact(ctx, conv, in.reduction)
	if err != nil {
		return nil, err
	}
	rows, ok := x.view(conv)
	if said.Skip != "" {
		return line(said), nil
	}
	if said.Rows = rows; !ok || len(line(said)) > mostRows {
		return nil, errNothing("the view cannot be given as rows")
	}
	made := slices.DeleteFunc(slices.Clone(conv.Edits),
		func(e precis.Edit) bool { return contains(r.conv.Edits, e.ID) })
	c.tryUpdate(ctx, func(s *state) {
		s.Edits, s.Compactions, s.Own = json.RawMessage(line(made)), s.Compactions+1, true
		s.Digest, s.Pending, s.Due = "", "", false
	})
	c.entry.Did, c.entry.Compaction = Replaced, true
	return line(said), nil
}

// recorded reads the recording and matches its messages with the rows of the context. Claude Code
// writes the recording about ten times a second, so the newest result may be missing; then recorded
// reads it again, a few times.
func (c *call) recorded(ctx context.Context, rows []row) (record, *rowContext, error) {
	const tries, pause = 5, 100 * time.Millisecond
	for try := 1; ; try++ {
		r, err := c.open()
		if err != nil {
			return r, nil, err
		}
		x := contextOf(r.conv, rows)
		if try < tries && (x == nil || x.newestRowsMissing()) {
			select {
			case <-time.After(pause):
				continue
			case <-ctx.Done():
				return r, nil, ctx.Err()
			}
		}
		if x == nil {
			return r, nil, errNothing("the context is not that of the recording")
		}
		return r, x, nil
	}
}

// ownEdits returns precis's edits of a session that fit the recording.
func (c *call) ownEdits(t *precis.Transcript) []precis.Edit {
	var own []precis.Edit
	if data := c.state().Edits; len(data) > 0 && json.Unmarshal(data, &own) != nil {
		return nil
	}
	return fitting(t, own)
}

// withRecorded adds the edits in a recording. Where precis's own edits are known, it leaves out the
// recorded trace of their compaction.
func withRecorded(own, recorded []precis.Edit) []precis.Edit {
	out := slices.Clone(own)
	for _, e := range recorded {
		if len(own) == 0 || !claudecode.IsPluginCompaction(e) {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b precis.Edit) int { return a.Seen - b.Seen })
	return out
}

func contains(edits []precis.Edit, id string) bool {
	return slices.ContainsFunc(edits, func(e precis.Edit) bool { return e.ID == id })
}

// compact reduces the conversation or undoes the newest reduction, and describes the result.
func (c *call) compact(ctx context.Context, conv *precis.Conversation, in reduction) (compaction, error) {
	settings, err := preset.Settings(preset.Frugal)
	if err != nil {
		return compaction{}, err
	}
	// The list omits truncate, which hides messages and quotes none of them.
	settings.Rungs = []string{"dedupe", "fold", "media", "digest", "prune", "squeeze", "digest-more"}
	settings.KeepMessages, settings.KeepFirst = 1, 1 // row 0 always stays
	m, err := preset.New(preset.Options{Estimate: "chars4", Settings: settings})
	if err != nil {
		return compaction{}, err
	}
	meter := m.NewMeter()
	all := max(meter.View(precis.View(conv.Transcript, conv.Edits)), 1)
	newest := meter.View(conv.Transcript.Messages()[newestCall(conv.Transcript):])
	settings.Target = min(max(compactTo, float64(100*newest/all)+compactRoom), 100)
	if err := m.SetSettings(settings); err != nil {
		return compaction{}, err
	}
	if strings.EqualFold(strings.TrimSpace(in.Instructions), undoCompaction) {
		if _, err := m.Undo(ctx, conv); err != nil {
			return compaction{Skip: "there is no compaction of precis to take back"}, nil
		}
		return compaction{Said: "The newest compaction is taken back."}, nil
	}
	before, full := len(conv.Edits), cmp.Or(in.Context.Tokens, all)
	result, err := m.Manage(ctx, policy.Request{
		Conversation: conv, Profile: conv.Model, Window: precis.Window{Tokens: full}, Reported: full,
		TriggeredBy: precis.TriggeredManual, WithoutModels: true, Dialect: anthropic.Dialect{},
		Reasoning: in.reasoning,
	})
	switch {
	case err != nil:
		return compaction{}, err
	case len(conv.Edits) > before:
		said := fmt.Sprintf("About %s tokens became %s, without a model call. Nothing is lost; %s takes it back.",
			thousands(result.Report.Before.Tokens), thousands(result.Report.After.Tokens), in.undoCommand)
		return compaction{Said: said}, nil
	case in.Trigger == "manual":
		return compaction{Skip: "there is nothing to shorten yet"}, nil
	}
	return compaction{}, errNothing("nothing could be shortened")
}

// thousands formats an estimated count for people: 34k.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%dk", (n+500)/1000)
}

// newestCall returns the index of the model's newest message; later messages are unanswered.
func newestCall(t *precis.Transcript) int {
	for i := t.Len() - 1; i > 0; i-- {
		if t.At(i).Role == precis.RoleAssistant {
			return i
		}
	}
	return 0
}

// rowContext matches the context of Claude Code with the recording.
type rowContext struct {
	rows  []row
	of    map[int][]int // message of the recording → its rows
	loose map[int][]int // message → the rows after it that the recording lacks, perhaps only for now
	last  int           // the message that the newest rows belong to
}

// contextOf matches the rows of a context with messages, by the IDs of calls and by texts. It
// returns nil for a context of another conversation: its first row is unknown, or the model's last
// message or the results after it have no row.
func contextOf(conv *precis.Conversation, rows []row) *rowContext {
	at := map[string]int{}
	for i, m := range conv.Transcript.Messages() {
		for _, key := range messageKeys(m) {
			at[key] = i
		}
	}
	x := &rowContext{rows: rows, of: map[int][]int{}, loose: map[int][]int{}, last: -1}
	var waiting []int // reasoning rows, which belong to the message of the row after them
	for i, r := range rows {
		m, known := -1, false
		for _, key := range r.keys() {
			if m, known = at[key]; known {
				break
			}
		}
		switch {
		case known:
			if !slices.ContainsFunc(x.of[m],
				func(k int) bool { return slices.Equal(rows[k].keys(), r.keys()) }) {
				x.of[m] = append(append(x.of[m], waiting...), i)
			}
			x.last, waiting = m, nil
		case r.Role == string(precis.RoleAssistant) && r.Text == "" && len(r.Uses) == 0:
			waiting = append(waiting, i)
		case i == 0:
			if !isSummary(conv.Edits, r.Text) {
				return nil
			}
		case x.last >= 0 && !harness.IsOurs(r.Text):
			x.loose[x.last] = append(x.loose[x.last], i)
		}
	}
	for i := x.last + 1; i < conv.Transcript.Len(); i++ {
		// only additions by the program may follow, which have no calls
		m := conv.Transcript.At(i)
		if x.last < 0 || m.HasToolResult() || len(m.Content) > 0 && m.Role == precis.RoleAssistant {
			return nil
		}
	}
	return x
}

// newestRowsMissing reports whether the newest rows are results that the recording lacks.
func (x *rowContext) newestRowsMissing() bool {
	return slices.ContainsFunc(x.loose[x.last], func(i int) bool { return len(x.rows[i].Results) > 0 })
}

// isSummary reports whether a text is the replacement made by an edit.
func isSummary(edits []precis.Edit, text string) bool {
	text = strings.TrimSpace(text)
	return slices.ContainsFunc(edits, func(e precis.Edit) bool {
		return slices.ContainsFunc(e.Replace, func(r precis.Replacement) bool {
			return slices.ContainsFunc(r.With,
				func(m precis.Message) bool { return strings.TrimSpace(m.PlainText()) == text })
		})
	})
}

// messageKeys returns the keys that identify the rows of a message.
func messageKeys(m precis.Message) (out []string) {
	for _, b := range m.Content {
		switch b := b.(type) {
		case precis.ToolUse:
			out = append(out, "use "+b.ID)
		case precis.ToolResult:
			out = append(out, "result "+b.ToolUseID)
		case precis.Text:
			if text := strings.TrimSpace(b.Text); text != "" {
				out = append(out, string(m.Role)+" "+text)
			}
		}
	}
	return out
}

func (r row) keys() (out []string) {
	for _, u := range r.Uses {
		out = append(out, "use "+u.ID)
	}
	for _, u := range r.Results {
		out = append(out, "result "+u.ID)
	}
	if text := strings.TrimSpace(r.Text); text != "" {
		out = append(out, r.Role+" "+text)
	}
	return out
}

// view returns the rows of a view. Row 0 comes first and keeps its handle, because Claude Code
// repeats its lists of skills, tools and agents only with it. Ok is false if the newest rows would
// be missing.
func (x *rowContext) view(conv *precis.Conversation) (out []any, ok bool) {
	out = append(out, keptRow{0})
	first := strings.TrimSpace(x.rows[0].Text)
	for _, u := range precis.Units(conv.Transcript, conv.Edits) {
		for n, m := range u.Messages {
			var rows, loose []int
			if u.Original() {
				rows, loose = x.of[u.From+n], x.loose[u.From+n]
				ok = ok || u.From+n == x.last
			}
			switch r := written(m); {
			case slices.Contains(rows, 0):
			case len(rows) > 0 && !isPlain(m):
				for _, i := range rows {
					out = append(out, keptRow{i})
				}
			case len(rows) > 0 && !u.Changed && x.holds(rows, r):
				for _, i := range rows {
					out = append(out, i)
				}
			case !r.empty() && r.Text != first:
				out = append(out, r)
			}
			for _, i := range loose {
				out = append(out, i)
			}
		}
	}
	return out, ok
}

// holds reports whether rows of results have a message's full content, not a shortened form.
func (x *rowContext) holds(rows []int, r row) bool {
	n := 0
	for _, i := range rows {
		for _, result := range x.rows[i].Results {
			same := func(b rowResult) bool { return b.ID == result.ID && units(b.Text) == result.Size }
			if !slices.ContainsFunc(r.Results, same) {
				return false
			}
			n++
		}
	}
	return n > 0 && n == len(r.Results)
}

// isPlain reports whether a message has only content that rows can hold: no reasoning, no pictures.
func isPlain(m precis.Message) bool {
	return !slices.ContainsFunc(m.Content, func(b precis.Block) bool {
		switch b.(type) {
		case precis.Text, precis.ToolUse, precis.ToolResult:
			return false
		}
		return true
	})
}

// written returns a message as a row.
func written(m precis.Message) row {
	r := row{Role: string(m.Role), Uses: []rowUse{}}
	var text []string
	for _, b := range m.Content {
		switch b := b.(type) {
		case precis.Text:
			text = append(text, b.Text)
		case precis.ToolUse:
			r.Uses = append(r.Uses, rowUse{ID: b.ID, Tool: b.Name, Input: b.Input})
		case precis.ToolResult:
			r.Results = append(r.Results, rowResult{ID: b.ToolUseID, Text: b.Text(), IsError: b.IsError})
		}
	}
	r.Text = strings.TrimSpace(strings.Join(text, "\n"))
	return r
}

func (r row) empty() bool { return r.Text == "" && len(r.Uses) == 0 && len(r.Results) == 0 }
