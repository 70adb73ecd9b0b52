// Package toolcall answers: which tools did a conversation call, and what did each call do? It
// finds the files that were read or written, and the commands that ran. It knows calls by their
// shape, not by a list of tools: native tool uses with their results, and calls written as XML in
// the assistant's text with the result in the next user message (Roo, Cline).
package toolcall

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/preview"
)

// Kind is the kind of a call's effect.
type Kind string

// The kinds of calls.
const (
	Read    Kind = "read"    // a file's content, or part of it
	Write   Kind = "write"   // a file created, changed or removed
	Command Kind = "command" // a shell command
	Other   Kind = "other"   // all others, searches among them
)

// Call is one tool call with its result.
type Call struct {
	Name    string
	Kind    Kind
	Line    string // of a command
	Path    string // of a read or write; "" for none
	Use     precis.Handle
	Results []precis.Handle // blocks that hold the result; none if it is missing
	Text    string          // of the result
	IsError bool
	Deeds

	Registers bool // its result lists definitions of tools; Text is empty then

	key     string          // of a call without input, see Key
	input   json.RawMessage // of a native call
	params  []Param         // of a call written as text
	refused bool            // the recording states that a person refused it
	around  harness.Program // of the conversation
	flagged bool            // results of this conversation are marked when they are errors
	coded   bool            // the same for its commands that end with an exit code
	patch   bool            // it applies a patch; its result may have the form of a command's
	script  []Use           // the calls in a program that the model wrote; nil: a call of its own
	served  bool            // the provider's server ran it
	marked  bool            // the JSON of its result states that it failed
	code    *int            // the exit code in the JSON of its result; nil: none
}

// Use is a call of a tool as it was made.
type Use struct {
	Name  string
	Input json.RawMessage // null if it is not a literal
}

// Scripted returns the calls of a program that the model wrote instead of a single call; nil for
// other calls.
func (c *Call) Scripted() []Use { return c.script }

// Served returns the arguments of a call in an opaque block, such as one that the provider's server
// ran; false for other calls.
func (c *Call) Served() (Use, bool) { return Use{c.Name, c.input}, c.served }

// Find returns the calls of msgs in the order of their uses.
func Find(msgs []precis.Message) []Call {
	f := finder{pairs: precis.PairsOf(msgs), speech: precis.SpeechOf(msgs)}
	f.byUse, f.byID = map[precis.Handle]int{}, map[string]precis.Handle{}
	for i, m := range msgs {
		switch m.Role {
		case precis.RoleAssistant:
			f.assistant(i, m)
		case precis.RoleUser:
			f.user(i, m)
		}
	}
	flagged := slices.ContainsFunc(f.calls, func(c Call) bool { return c.IsError && !c.marked })
	coded := slices.ContainsFunc(f.calls, func(c Call) bool {
		code, ok := exitCode(c.Text)
		return c.Kind == Command && c.IsError && ok && code != 0
	})
	around := harness.Program(precis.HarnessOf(msgs))
	for i := range f.calls {
		f.calls[i].flagged, f.calls[i].coded, f.calls[i].around = flagged, coded, around
	}
	return f.calls
}

type finder struct {
	calls   []Call
	pairs   *precis.Pairs
	speech  *precis.Speech
	byUse   map[precis.Handle]int    // native calls
	byID    map[string]precis.Handle // calls in opaque blocks
	pending []int                    // open XML calls of the last assistant message
	action  action                   // of the last assistant message; the zero value: none
}

// action is a command that an assistant wrote as text for its environment to run. It is a call if
// the next user message is the environment's answer.
type action struct {
	text string
	at   precis.Handle
}

func (f *finder) assistant(i int, m precis.Message) {
	f.pending, f.action = f.pending[:0], action{}
	for b := 0; b < len(m.Content); b++ {
		h := precis.BlockHandle(i, b)
		switch block := m.Content[b].(type) {
		case precis.ToolUse:
			if item, ok := itemBehind(m.Content, b); ok {
				b++
				f.served(h, h, item.Type, item.Raw)
				continue
			}
			f.byUse[h] = len(f.calls)
			f.calls = append(f.calls, native(block, h))
		case precis.Opaque:
			f.served(h, h, block.Type, block.Raw)
		case precis.Text:
			for _, x := range ParseXML(block.Text) {
				f.pending = append(f.pending, len(f.calls))
				f.calls = append(f.calls, x.call(h))
			}
			if text := actionIn(block.Text); text != "" {
				f.action = action{text, h}
			}
		}
	}
	if len(m.Content) > 0 {
		f.listed(precis.BlockHandle(i, 0), m.Fields)
	}
}

func (f *finder) user(i int, m precis.Message) {
	for b := 0; b < len(m.Content); b++ {
		h := precis.BlockHandle(i, b)
		switch block := m.Content[b].(type) {
		case precis.ToolResult:
			f.result(h, m, block)
		case precis.Opaque:
			f.served(h, h, block.Type, block.Raw)
		case precis.Text:
			if name, ok := harness.ResultHead(block.Text); ok {
				b = f.xmlResult(i, b, name, m.Content)
			} else if f.action.text != "" && harness.IsObservation(block.Text) {
				f.calls = append(f.calls, f.action.call(h, block.Text))
				f.action = action{}
			}
		}
	}
}

// result stores a native result: the first of a call is the one that the model continued from.
func (f *finder) result(h precis.Handle, m precis.Message, block precis.ToolResult) {
	call := f.askedBy(h, []string{block.ToolUseID})
	if call == nil {
		return
	}
	said := ending{lines: []string{block.Text()}}
	for _, part := range block.Content {
		if o, ok := part.(precis.Opaque); ok {
			said.add(readItem(o.Type, o.Raw).endKind)
		}
	}
	if e, ok := envelopes(said.text()); ok {
		said = e
	}
	said.failed = said.failed || failedItem(m, block)
	call.IsError, call.refused = block.IsError, block.Refused
	call.storeResult(h, said)
	if call.script != nil {
		call.setScriptResult(call.Text)
	}
	if call.Registers = call.Kind == Other && harness.RegistersTools(call.Text); call.Registers {
		call.Text = ""
	}
	call.addPatchedFiles()
	call.addShownFile(call.Name)
}

// addShownFile records the file that a result shows, for a call without a path but with a verb: the
// editor of SWE-agent keeps one file open. It reports whether there is one.
func (c *Call) addShownFile(verb string) bool {
	if c.Kind != Other || c.IsError {
		return false
	}
	_, head, ok := strings.Cut("\n"+c.Text, "\n[File: ")
	name, _, counted := strings.Cut(head, " (")
	if !ok || !counted || strings.Contains(name, "\n") {
		return false
	}
	c.Kind, c.Path = Read, normalPath(name)
	if isOfKind("writes", verb) {
		c.Kind, c.Effects = Write, []Effect{{Path: c.Path, Added: strings.HasPrefix(verb, "create")}}
	}
	return true
}

// patchingLine matches the line where patch names a file that it changes.
var patchingLine = lazyregexp.New(`(?m)^patching file '?([^'\n]+?)'?(?: \(|\r?$)`)

// addPatchedFiles adds the files that patch reports as changed, if the line lacks the patch.
func (c *Call) addPatchedFiles() {
	patches := strings.Contains(c.Line, "patch") && strings.Contains(c.Text, "patching file ")
	failed := c.IsError || strings.Contains(c.Line, "--dry-run") || strings.Contains(c.Text, "FAILED at ")
	if c.Kind != Command || !patches || failed || Prints(c.Line) {
		return
	}
	for _, m := range patchingLine.FindAllStringSubmatchIndex(c.Text, mostPaths) {
		p := normalPath(c.Text[m[2]:m[3]])
		if !slices.ContainsFunc(c.Effects,
			func(e Effect) bool { return e.Path == p || strings.HasSuffix(e.Path, "/"+p) }) {
			c.Effects = append(c.Effects, Effect{Path: p})
		}
	}
}

// xmlResult gives the result that begins at block b to the next open XML call
// of that name, and returns the index of its last block.
func (f *finder) xmlResult(i, b int, name string, content []precis.Block) int {
	last := resultEnd(content, f.speech.Authors(i), b)
	for n, c := range f.pending {
		if f.calls[c].Name != name {
			continue
		}
		f.pending = append(f.pending[:n:n], f.pending[n+1:]...)
		call := &f.calls[c]
		var texts []string
		for k := b; k <= last; k++ {
			if t, ok := content[k].(precis.Text); ok {
				call.Results = append(call.Results, precis.BlockHandle(i, k))
				texts = append(texts, t.Text)
			}
		}
		call.Text = strings.Join(texts, "\n")
		call.addPatchedFiles()
		break
	}
	return last
}

// actionStart and actionEnd enclose the command at the end of a SWE-agent message.
const (
	actionStart = "<command>"
	actionEnd   = "</command>"
)

// actionIn returns the command at the end of a text: in its last <command> element, or its last
// fenced block; "" without one.
func actionIn(text string) string {
	if _, after, ok := strings.Cut(text, actionStart); ok {
		command, _, closed := strings.Cut(after, actionEnd)
		if closed {
			return strings.TrimSpace(command)
		}
	}
	end := strings.LastIndex(text, "\n```")
	start := strings.LastIndex(text[:max(end, 0)], "```")
	if start < 0 {
		return ""
	}
	_, command, _ := strings.Cut(text[start:end], "\n")
	return strings.TrimSpace(command)
}

// call returns the call of an answered action. The file in the answer is the file that it edits.
func (a action) call(result precis.Handle, text string) Call {
	c := Call{Name: "shell", Kind: Other, key: "shell\x00" + a.text, Use: a.at,
		Results: []precis.Handle{result}, Text: text}
	verb, rest, _ := strings.Cut(a.text, " ")
	switch {
	case is("open", verb) && c.addShownFile(verb):
	case verb == "edit" && strings.Contains(rest, "end_of_edit"): // it was refused for a mistake in it
	default:
		c.Kind, c.Line = Command, a.text
		c = c.commanded()
	}
	return c
}

// resultEnd returns the last block of the XML result that begins at block b: it extends over the
// tool's blocks, see [precis.Speech.Authors], and the user's words with an approval or a refusal.
func resultEnd(content []precis.Block, authors []precis.Author, b int) int {
	for k := b + 1; k < len(content); k++ {
		t, ok := content[k].(precis.Text)
		_, head := harness.ResultHead(t.Text)
		if !ok || head || authors[k] != precis.AuthorTool && !harness.IsIntroduced(t.Text) {
			return k - 1
		}
	}
	return len(content) - 1
}

func native(u precis.ToolUse, use precis.Handle) Call {
	c := classify(Call{Name: u.Name, Use: use, input: u.Input})
	if c.Kind == Other && bytes.Contains(u.Input, []byte("tools")) {
		c.scripted(c.arguments()["input"])
	}
	return c
}

// arguments returns the arguments of a call by name: texts, and others as JSON.
func (c *Call) arguments() map[string]string {
	out := map[string]string{}
	for a := range c.Arguments() {
		text, isText := jsonspan.String(a.Raw)
		switch {
		case a.Raw == nil:
			text = strings.TrimSpace(a.Text)
		case !isText:
			text = string(a.Raw)
		}
		out[a.Name] = text
	}
	return out
}

// Key returns the name and the arguments of the call: it is equal for calls with the same
// arguments, whatever their order and white space.
func (c *Call) Key() string {
	if c.key != "" {
		return c.key
	}
	return c.Name + "\x00" + precis.HashBlock(precis.ToolUse{Input: c.input}).String()
}

// Argument is one argument of a call: a JSON value, or the text in a tag of a call that is written
// as text.
type Argument struct {
	Name string
	Raw  json.RawMessage // nil: Text is the value
	Text string
}

// Arguments yields the arguments of the call in order; free text is "input". It ends silently at
// the first fault of the JSON.
func (c *Call) Arguments() iter.Seq[Argument] {
	return func(yield func(Argument) bool) {
		for _, p := range c.params {
			if !yield(Argument{Name: p.Name, Text: p.Value}) {
				return
			}
		}
		switch jsonspan.Kind(c.input) {
		case '{':
		case '"':
			yield(Argument{Name: "input", Raw: c.input})
			return
		default:
			return
		}
		for m, err := range jsonspan.Object(c.input) {
			if err != nil || !yield(Argument{Name: m.Name, Raw: m.Raw}) {
				return
			}
		}
	}
}

// commandLine returns the command line in a call's arguments; "" without one. A list of words is
// joined by spaces, a list of commands by line breaks, up to mostBytes.
func commandLine(args map[string]string) string {
	line, sep := first(args, "command"), byte(' ')
	if line == "" {
		line, sep = args["commands"], '\n'
	}
	if jsonspan.Kind([]byte(line)) != '[' {
		return line
	}
	var out strings.Builder
	for name, w := range jsonspan.Strings([]byte(line)) {
		if out.Len() > mostBytes {
			break
		}
		if name != "" && !is("command", name) {
			continue // not a command, in a list of objects
		}
		if out.Len() > 0 {
			out.WriteByte(sep)
		}
		out.WriteString(w)
	}
	return out.String()
}

// Title names the call on one line: the tool, and its path or command line.
func (c *Call) Title() string {
	text, most := c.Name, 100
	switch {
	case c.Path != "":
		text, most = c.Name+" "+c.Path, 200
	case c.Line != "":
		text, most = c.Name+" "+c.Line, 120
	case len(c.Effects) > 1:
		text = fmt.Sprintf("%s %s and %d more", c.Name, c.Effects[0].Path, len(c.Effects)-1)
	}
	return preview.Quote(text, most)
}

// Given returns the string arguments of a call, joined, about 400 bytes at most; without any, its path.
func (c *Call) Given() string {
	const most = 400
	var out []string
	n := 0
	for _, s := range c.Strings() {
		if n += len(s); n > most && len(out) > 0 {
			break
		}
		out = append(out, preview.Line(s, most))
	}
	if len(out) == 0 {
		return c.Path
	}
	return strings.Join(out, " ")
}

// ReportsDone reports whether an agent calls the tool to report that it is done; such calls never get
// a result.
func (c *Call) ReportsDone() bool {
	switch strings.ToLower(c.Name) {
	case "finish", "submit", "attempt_completion", "complete", "done", "task_complete":
		return true
	}
	return false
}
