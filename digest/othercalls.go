package digest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/internal/plain"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/internal/prose"
	"github.com/precis-dev/precis/internal/toolcall"
)

// othersTitle is the heading over calls that no other section lists: MCP servers, user interfaces,
// browsers, and tools that run on the provider's server.
const othersTitle = "## Other calls, failures first, newest first"

// Limits of the section on other calls: percent of the digest, and lines.
const (
	othersShare = 8
	mostOthers  = 12
	mostData    = 150 // bytes of a result in JSON
)

// otherCall is the newest of the calls of one tool with the same argument names.
type otherCall struct{ call, runs, failed int }

// otherCalls describes the covered calls that no other section reports.
func (in *input) otherCalls() []string {
	w := in.work()
	byShape := map[string]*otherCall{}
	var failed, fine, searches []*otherCall
	for i := range slices.Backward(w.Calls) {
		c := &w.Calls[i]
		if !in.covered(c.Use.From) || !in.isOther(i) {
			continue
		}
		shape := shapeOf(c)
		o := byShape[shape]
		if o == nil {
			o = &otherCall{call: i}
			byShape[shape] = o
			switch {
			case w.Ends[i].End == toolcall.Failed:
				failed = append(failed, o)
			case c.Searches(): // its result can be had again
				searches = append(searches, o)
			default:
				fine = append(fine, o)
			}
		}
		o.runs++
		if w.Ends[i].End == toolcall.Failed {
			o.failed++
		}
	}
	all := slices.Concat(failed, fine, searches)
	var lines []string
	for _, o := range all[:min(len(all), mostOthers)] {
		lines = append(lines, in.otherCall(o))
	}
	return lines
}

// shapeOf returns a key that similar one-line calls share: the tool, the names of the arguments,
// and the values of arguments that select an operation.
func shapeOf(c *toolcall.Call) string {
	shape := c.Name
	for a := range c.Arguments() {
		shape += "\x00" + a.Name
		if slices.Contains([]string{"tool_name", "tool", "method", "action", "operation", "command"},
			a.Name) {
			shape += "\x00" + valueOf(a)
		}
	}
	return shape
}

// valueOf returns an argument as text; "" for one that is empty.
func valueOf(a toolcall.Argument) string {
	if a.Raw == nil {
		return a.Text
	}
	return compact(a.Raw)
}

// isOther reports whether no other section lists a call.
func (in *input) isOther(call int) bool {
	w := in.work()
	c, o := &w.Calls[call], w.Ends[call]
	last := len(in.messages) - 1
	if len(c.Results) > 0 && c.Results[0].From == last && in.messages[last].Role == precis.RoleUser {
		return false // it has just returned
	}
	if _, written := in.messages[c.Use.From].Content[c.Use.Block].(precis.Text); written && !hasArguments(c) {
		return false // a command for the environment, in the words of the agent
	}
	if c.Kind != toolcall.Other || len(c.Effects)+len(c.Reads) > 0 || c.Registers ||
		in.workState().Calls[c.Use] {
		return false
	}
	return o.End != toolcall.Rejected && !w.IsWaiting(call) &&
		!harness.IsTool(c.Name, "answers", "asks", "turns") &&
		!c.ReportsDone() && !isThought(c)
}

func hasArguments(c *toolcall.Call) bool {
	for range c.Arguments() {
		return true
	}
	return false
}

// isThought reports whether a call only records the agent's thoughts.
func isThought(c *toolcall.Call) bool {
	for a := range c.Arguments() {
		if a.Name == "thought" || a.Name == "thoughts" {
			return true
		}
	}
	return false
}

// otherCall describes a call and its outcome.
func (in *input) otherCall(o *otherCall) string {
	c, end := &in.work().Calls[o.call], in.work().Ends[o.call]
	line := "- " + in.handle(c.Use.From) + " " + plain.Text(preview.Quote(c.Name, 60)) +
		"(" + argumentsInShort(c) + ")"
	if o.runs > 1 {
		line += fmt.Sprintf(" ×%d", o.runs)
		if o.failed > 0 && o.failed < o.runs {
			line += fmt.Sprintf(" (%d failed)", o.failed)
		}
	}
	says := tellingLine(c)
	switch {
	case end.End == toolcall.Failed:
		line += " → FAILED"
		if end.Line != "" {
			says = strings.TrimSuffix(end.Line+"; "+end.Why, "; ")
		}
		if says != "" {
			line += ": "
		}
	case end.End == toolcall.Interrupted:
		return line + " → interrupted"
	case says == "":
		return line + " → done"
	default:
		line += " → "
	}
	return line + preview.Quote(says, 160)
}

// argumentsInShort returns as many arguments of a call as fit on a short line, each value once.
func argumentsInShort(c *toolcall.Call) string {
	const most, longest, shortest = 120, 70, 15 // bytes of all, and of a value
	var out []string
	room, seen := most, map[string]bool{}
	for a := range c.Arguments() {
		value := preview.Quote(valueOf(a), min(longest, room))
		if value == "" || seen[strings.Trim(value, `[]"`)] {
			continue
		}
		seen[value] = true
		out = append(out, preview.Quote(a.Name, longest)+": "+value)
		if room -= len(a.Name) + len(value); room < shortest {
			out = append(out, "…")
			break
		}
	}
	return strings.Join(out, ", ")
}

// onOneLine returns a JSON value on one line; "" for invalid JSON.
func onOneLine(raw json.RawMessage) string {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return ""
	}
	return out.String()
}

// compact returns a JSON value on one line, of a string its text; "" for null and empty values.
func compact(raw json.RawMessage) string {
	if s, ok := jsonspan.String(raw); ok {
		return s
	}
	s := onOneLine(raw)
	if s == "null" || s == "[]" || s == "{}" {
		return ""
	}
	return s
}

// tellingLine returns the first lines of a call's result that add to its arguments, or "".
func tellingLine(c *toolcall.Call) string {
	given := map[string]bool{}
	for _, s := range c.Strings() {
		given[strings.TrimSpace(s)] = true
	}
	delete(given, "")
	text := toolcall.Unwrapped(harness.WithoutHead(c.Output()))
	if data := onOneLine([]byte(text)); strings.HasPrefix(data, "{") || strings.HasPrefix(data, "[") {
		return preview.Quote(data, mostData)
	}
	const shortest = 40 // bytes of a line that needs no second one
	first, news := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.ContainsFunc(line, prose.IsLetterOrDigit) || given[line] || harness.IsRemark(line) {
			continue
		}
		if strings.HasSuffix(line, ":") || repeats(line, given) {
			first = cmp.Or(first, line)
			continue
		}
		if news += "; " + line; len(news) > shortest {
			break
		}
	}
	return cmp.Or(strings.TrimPrefix(news, "; "), first)
}

// repeats reports whether a line only repeats the arguments: its other words contain no number.
func repeats(line string, given map[string]bool) bool {
	const shortest = 8
	for s := range given {
		before, after, ok := strings.Cut(line, s)
		if ok && len(s) >= shortest && !strings.ContainsAny(before+after, "0123456789") {
			return true
		}
	}
	return false
}
