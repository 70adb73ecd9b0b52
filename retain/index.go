package retain

import (
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/internal/toolcall"
)

// Source is the origin of a text in a conversation.
type Source uint8

// The sources.
const (
	SourceUser        Source = iota // the user's words
	SourceAssistant                 // the assistant's words
	SourceWritten                   // content the assistant wrote into a file
	SourceArguments                 // other arguments of its calls
	SourceFile                      // results: a file's content
	SourceCommand                   // results: output of a command
	SourceOtherResult               // results: anything else, searches and listings
	SourceHarness                   // text of the agent's program
	sources
)

var sourceNames = [sources]string{"user", "said", "written", "called", "read", "output", "found", "harness"}

// String returns the source's name.
func (s Source) String() string { return sourceNames[s] }

// Text is one text of a conversation: a text block, a string among a call's arguments, a result.
// The short arguments of a call that does not write form one text: the name of the tool, which is
// not a fact, and the strings, separated by spaces.
type Text struct {
	Handle precis.Handle // of the block
	Source Source
	Call   int32  // index in Index.Calls; -1: no call
	Field  string // name of the argument; "" outside calls, and for a whole call
	Start  int32  // where Body begins in a text block; else the index of the string in the block
	Body   string

	tool     int32    // length of the tool's name at the beginning of Body
	userSpan [2]int32 // span of the user's words in a result; 0, 0 elsewhere
	marks    [2]int32 // its anchors: a range of Index.marks
}

// UserText returns the words of the text: of a result with a user's answer, the user's words alone.
func (t *Text) UserText() string {
	if t.userSpan[1] > 0 {
		return t.Body[t.userSpan[0]:t.userSpan[1]]
	}
	return t.Body
}

// IsCall reports whether the text is a whole call on one line.
func (t *Text) IsCall() bool { return t.tool > 0 }

// mark is a fact mentioned at a byte of a text.
type mark struct{ at, fact int32 }

// Fact is an anchor with the statistics of its mentions. Messages are counted
// from 0; -1 means never.
type Fact struct {
	Name string // in its last full form
	Kind Kind

	First, Last   int32 // messages that mention it
	LastSaid      int32 // last message of the assistant that mentions it
	Messages      int32 // how many messages mention it
	SaidIn        int32 // how many messages of the assistant mention it
	Sources       uint16
	LastSource    Source
	Edited        bool    // a path that was written to
	InEdited      bool    // it is in a file that was written to
	InError       bool    // it is in a result that is an error
	Near          float32 // most recent facts next to it in one place
	Beside        float32 // the largest share of recent facts in one text with it
	lastMessage   int32
	lastSaidIndex int32
}

// Index records the facts that a conversation mentions, with the places and the
// number of mentions. Build it with [Read]; it is then safe for concurrent
// reading.
type Index struct {
	Texts []Text
	Facts []Fact
	Calls []toolcall.Call

	messages []precis.Message
	speech   *precis.Speech
	marks    []mark
	tokens   []int          // characters / 4 before each message; one more for the end
	byKey    map[string]int // index in Facts
	system   map[int]bool   // facts of the system prompt

	rulesOnce sync.Once
	allRules  []Rule // see Rules
	typedOnce sync.Once
	typed     []string // see typedUnits
}

// Read indexes a conversation: its transcript and system prompt.
func Read(system string, msgs []precis.Message) *Index {
	x := &Index{messages: msgs, speech: precis.SpeechOf(msgs), byKey: map[string]int{},
		system: map[int]bool{}, Calls: toolcall.Find(msgs)}
	r := reader{x: x, uses: map[precis.Handle][]int32{}, results: map[precis.Handle]int32{},
		edited: map[string]bool{}, speech: x.speech}
	r.calls()
	blocks := 0
	for _, m := range msgs {
		blocks += len(m.Content)
	}
	x.Texts = make([]Text, 0, blocks)
	chars := 0
	x.tokens = make([]int, 0, len(msgs)+1)
	for i, m := range msgs {
		x.tokens = append(x.tokens, chars/4)
		from := len(x.Texts)
		r.message(i, m)
		for k := from; k < len(x.Texts); k++ {
			chars += len(x.Texts[k].Body)
			r.scan(&x.Texts[k])
		}
	}
	x.tokens = append(x.tokens, chars/4)
	x.relate()
	Scan(system, func(a Anchor) {
		if f, ok := x.Find(system[a.Start:a.End], a.Kind); ok {
			x.system[f] = true
		}
	})
	return x
}

// relate computes Near and Beside: for each fact, how many facts from the assistant's last messages
// occur next to it.
func (x *Index) relate() {
	const recent, reach = 12, 200
	active := make([]bool, len(x.Facts))
	for i := range x.Facts {
		f := &x.Facts[i]
		active[i] = f.LastSaid >= 0 && int(f.LastSaid) >= len(x.messages)-recent
	}
	for i := range x.Texts {
		marks := x.marks[x.Texts[i].marks[0]:x.Texts[i].marks[1]]
		in := 0
		for _, m := range marks {
			if active[m.fact] {
				in++
			}
		}
		share := float32(in) / float32(len(marks)+4)
		lo, hi, near := 0, 0, 0
		for _, m := range marks {
			for hi < len(marks) && marks[hi].at <= m.at+reach {
				if active[marks[hi].fact] {
					near++
				}
				hi++
			}
			for marks[lo].at < m.at-reach {
				if active[marks[lo].fact] {
					near--
				}
				lo++
			}
			f := &x.Facts[m.fact]
			own := 0
			if active[m.fact] {
				own = 1
			}
			f.Near = max(f.Near, float32(near-own))
			f.Beside = max(f.Beside, share)
		}
	}
}

// Find returns the fact that an anchor names. A path is identified by its last
// two components.
func (x *Index) Find(name string, k Kind) (int, bool) {
	f, ok := x.byKey[key(name, k)]
	return f, ok
}

// key is the identity of an anchor: for a path its last two components, so that relative and
// absolute mentions are equal; for other kinds its text.
func key(name string, k Kind) string {
	if k != KindPath {
		return name
	}
	if strings.IndexByte(name, '\\') >= 0 {
		name = strings.ReplaceAll(strings.ReplaceAll(name, `\\`, "/"), `\`, "/")
	}
	i := strings.LastIndexByte(name, '/')
	if i <= 0 {
		return name
	}
	if j := strings.LastIndexByte(name[:i], '/'); j >= 0 {
		return name[j+1:]
	}
	return strings.TrimPrefix(name, "./")
}

// reader fills an index.
type reader struct {
	x       *Index
	uses    map[precis.Handle][]int32 // calls made in a block
	results map[precis.Handle]int32   // the call that a block answers
	edited  map[string]bool           // keys of paths written to
	speech  *precis.Speech
}

func (r *reader) calls() {
	for i, c := range r.x.Calls {
		r.uses[c.Use] = append(r.uses[c.Use], int32(i))
		for _, h := range c.Results {
			r.results[h] = int32(i)
		}
		for _, e := range c.Effects {
			r.edited[key(e.Path, KindPath)] = true
		}
	}
}

func (r *reader) message(i int, m precis.Message) {
	for b, spans := range blocksOf(r.speech.Spans(i), len(m.Content)) {
		h := precis.BlockHandle(i, b)
		switch block := m.Content[b].(type) {
		case precis.Text:
			r.text(h, block.Text, spans)
		case precis.ToolUse:
			r.indexToolUse(h, block)
		case precis.ToolResult:
			r.result(h, block, spans)
		}
		if t, ok := m.Content[b].(precis.ToolResult); !ok || t.Text() == "" {
			r.served(h)
		}
	}
}

// served adds the texts of calls, and of a result, in an opaque block.
func (r *reader) served(h precis.Handle) {
	calls := r.uses[h]
	for _, call := range calls {
		if use, ok := r.x.Calls[call].Served(); ok {
			r.strings(h, call, precis.ToolUse{Name: use.Name, Input: use.Input})
		}
	}
	if call, ok := r.results[h]; ok && len(calls) == 0 {
		calls = []int32{call}
	}
	for _, call := range calls {
		c := &r.x.Calls[call]
		if _, ok := c.Served(); ok && len(c.Results) > 0 && c.Results[0] == h && !c.Registers {
			r.add(Text{Handle: h, Source: r.resultSource(call), Call: call, Body: c.Text})
		}
	}
}

// blocksOf yields the spans of each of the n blocks of a message.
func blocksOf(spans []precis.SpeechSpan, n int) iter.Seq2[int, []precis.SpeechSpan] {
	return func(yield func(int, []precis.SpeechSpan) bool) {
		for b := range n {
			end := 0
			for end < len(spans) && spans[end].Block == b {
				end++
			}
			if !yield(b, spans[:end]) {
				return
			}
			spans = spans[end:]
		}
	}
}

// result adds the texts of a native result. If a person answers in it, the answer has the user as
// its source, but other output of the tool does not.
func (r *reader) result(h precis.Handle, of precis.ToolResult, spans []precis.SpeechSpan) {
	call, ok := r.results[h]
	if !ok {
		call = -1
	}
	answers := slices.ContainsFunc(spans,
		func(s precis.SpeechSpan) bool { return s.Attribution.Author == precis.AuthorPerson }) &&
		slices.ContainsFunc(r.speech.Answers(h.From),
			func(a precis.UserAnswer) bool { return a.Handle == h && !a.Beside })
	refused := false // certainly
	if call >= 0 && (of.IsError || of.Refused) {
		o := r.x.Calls[call].Outcome()
		refused = o.End == toolcall.Rejected && !o.Claimed
	}
	for n, c := range of.Content {
		t, ok := c.(precis.Text)
		if !ok {
			continue
		}
		one := Text{Handle: h, Source: r.resultSource(call), Call: call, Start: int32(n), Body: t.Text}
		switch {
		case call >= 0 && r.x.Calls[call].Registers:
			continue // the program registered these tools: the result has no findings
		case !answers && refused:
			continue // the user's words with it belong to the call
		case !answers:
			one.Body = toolcall.Unwrapped(t.Text)
		}
		for _, s := range spans {
			if answers && s.Part == n && s.Attribution.Author == precis.AuthorPerson {
				if one.Source, one.userSpan = SourceUser, [2]int32{int32(s.From), int32(s.To)}; refused {
					// without its frame
					one.Body, one.userSpan = t.Text[s.From:s.To], [2]int32{0, int32(s.To - s.From)}
				}
			}
		}
		r.add(one)
	}
}

func (r *reader) add(t Text) {
	if t.Body != "" {
		r.x.Texts = append(r.x.Texts, t)
	}
}

// text adds a text outside of native results, split by author.
func (r *reader) text(h precis.Handle, text string, spans []precis.SpeechSpan) {
	for k := 0; k < len(spans); {
		author, from := spans[k].Attribution.Author, spans[k].From
		for k < len(spans) && spans[k].Attribution.Author == author {
			k++
		}
		one := Text{Handle: h, Call: -1, Start: int32(from), Body: text[from:spans[k-1].To]}
		switch author {
		case precis.AuthorModel, precis.AuthorRecap: // a model's words, in whatever role
			r.indexAssistantText(h, one.Body)
			continue
		case precis.AuthorPerson:
			one.Source = SourceUser
		case precis.AuthorProgram, precis.AuthorOperator:
			one.Source = SourceHarness
		default:
			if call, ok := r.results[h]; ok {
				one.Call = call
			}
			one.Source = r.resultSource(one.Call)
		}
		r.add(one)
	}
}

// indexAssistantText splits an assistant's text at the tool calls written in it as XML.
func (r *reader) indexAssistantText(h precis.Handle, text string) {
	calls := r.uses[h]
	if len(calls) == 0 {
		r.add(Text{Handle: h, Source: SourceAssistant, Call: -1, Body: text})
		return
	}
	last := 0
	for n, c := range toolcall.ParseXML(text) {
		r.add(Text{Handle: h, Source: SourceAssistant, Call: -1, Start: int32(last),
			Body: text[last:c.Start]})
		call := calls[min(n, len(calls)-1)]
		for _, p := range c.Params {
			r.add(Text{Handle: h, Source: r.argumentSource(call, p.Name, p.Value), Call: call, Field: p.Name,
				Start: int32(p.Start), Body: p.Value})
		}
		last = c.End
	}
	r.add(Text{Handle: h, Source: SourceAssistant, Call: -1, Start: int32(last), Body: text[last:]})
}

func (r *reader) indexToolUse(h precis.Handle, u precis.ToolUse) {
	call := int32(-1)
	if c := r.uses[h]; len(c) > 0 {
		call = c[0]
	}
	if call >= 0 {
		if made := r.x.Calls[call].Scripted(); made != nil {
			for _, use := range made {
				r.strings(h, call, precis.ToolUse{Name: use.Name, Input: use.Input})
			}
			return
		}
	}
	r.strings(h, call, u)
}

// strings adds the arguments of a call.
func (r *reader) strings(h precis.Handle, call int32, u precis.ToolUse) {
	if line, ok := r.callLine(call, u); ok {
		r.add(Text{Handle: h, Source: SourceArguments, Call: call, Body: line, tool: int32(len(u.Name))})
		return
	}
	n := int32(0)
	for field, s := range jsonspan.Strings(u.Input) {
		r.add(Text{Handle: h, Source: r.argumentSource(call, field, s), Call: call, Field: field, Start: n,
			Body: s})
		n++
	}
}

// callLine returns a call as one line when all its strings are short and none is written content. A
// path or a pattern is more useful next to the other arguments: with calls as lines, views of half
// the window keep .884 of the older facts in their context instead of .824.
func (r *reader) callLine(call int32, u precis.ToolUse) (string, bool) {
	const longest, whole = 150, 190 // bytes of one string and of the line
	line := append([]byte(nil), u.Name...)
	for field, s := range jsonspan.Strings(u.Input) {
		if len(s) > longest || len(line)+len(s) >= whole || strings.ContainsAny(s, "\n\r") ||
			r.argumentSource(call, field, s) != SourceArguments {
			return "", false
		}
		line = append(append(line, ' '), s...)
	}
	return string(line), len(line) > len(u.Name)
}

// argumentSource distinguishes written content from other arguments: all arguments of a writing call
// are content except its path, and its command unless that is a patch.
func (r *reader) argumentSource(call int32, field, value string) Source {
	if call < 0 || r.x.Calls[call].Kind != toolcall.Write || field == "command" && !toolcall.IsPatch(value) ||
		toolcall.IsPathArgument(field) {
		return SourceArguments
	}
	return SourceWritten
}

func (r *reader) resultSource(call int32) Source {
	if call < 0 {
		return SourceOtherResult
	}
	switch r.x.Calls[call].Kind {
	case toolcall.Read:
		return SourceFile
	case toolcall.Command:
		return SourceCommand
	}
	return SourceOtherResult
}

// scan records the anchors of one text.
func (r *reader) scan(t *Text) {
	t.marks[0] = int32(len(r.x.marks))
	defer func() { t.marks[1] = int32(len(r.x.marks)) }()
	isError, inEdited := false, false
	if t.Call >= 0 {
		c := &r.x.Calls[t.Call]
		isError = c.IsError && t.Source >= SourceFile
		inEdited = c.Path != "" && r.edited[key(c.Path, KindPath)]
	}
	end, frame := 0, false // of the line with the newest anchor
	scanEnds(t.Body, func(a Anchor) {
		if a.Start >= end {
			from := strings.LastIndexByte(t.Body[:a.Start], '\n') + 1
			end = len(t.Body)
			if i := strings.IndexByte(t.Body[a.Start:], '\n'); i >= 0 {
				end = a.Start + i
			}
			frame = t.Source >= SourceFile && harness.IsRemark(strings.TrimSpace(t.Body[from:end]))
		}
		if a.Start < int(t.tool) || frame {
			return
		}
		n := r.fact(t.Body[a.Start:a.End], a.Kind, int32(t.Handle.From))
		r.x.marks = append(r.x.marks, mark{at: int32(a.Start), fact: int32(n)})
		f := &r.x.Facts[n]
		f.book(t.Source, int32(t.Handle.From))
		f.InError = f.InError || isError
		f.InEdited = f.InEdited || inEdited
	})
}

// mostScanned is how many bytes of a text are searched for facts: of longer ones half of them at
// either end, and at most mostOfEnd facts there. No view has room for more of one text.
const (
	mostScanned = 512 << 10
	mostOfEnd   = 15_000
)

// scanEnds calls [Scan] for a text, or for both ends of a long text, cut between words.
func scanEnds(text string, yield func(Anchor)) {
	if len(text) <= mostScanned {
		Scan(text, yield)
		return
	}
	head, tail := text[:mostScanned/2], text[len(text)-mostScanned/2:]
	end := func(part string, from int) {
		n := 0
		Scan(part, func(a Anchor) {
			if n++; n <= mostOfEnd {
				yield(Anchor{a.Kind, a.Start + from, a.End + from})
			}
		})
	}
	end(head[:strings.LastIndexAny(head, " \n")+1], 0)
	tail = tail[strings.IndexAny(tail, " \n")+1:]
	end(tail, len(text)-len(tail))
}

func (r *reader) fact(name string, k Kind, at int32) int {
	id := key(name, k)
	n, ok := r.x.byKey[id]
	if !ok {
		n = len(r.x.Facts)
		r.x.byKey[id] = n
		r.x.Facts = append(r.x.Facts,
			Fact{Name: name, Kind: k, First: at, LastSaid: -1, lastMessage: -1, lastSaidIndex: -1,
				Edited: k == KindPath && r.edited[id]})
	}
	f := &r.x.Facts[n]
	if k == KindPath && len(name) > len(f.Name) {
		f.Name = name
	}
	return n
}

func (f *Fact) book(s Source, at int32) {
	f.Last, f.LastSource = at, s
	f.Sources |= 1 << s
	if f.lastMessage != at {
		f.lastMessage = at
		f.Messages++
	}
	if s == SourceAssistant || s == SourceWritten || s == SourceArguments {
		f.LastSaid = at
		if f.lastSaidIndex != at {
			f.lastSaidIndex = at
			f.SaidIn++
		}
	}
}
