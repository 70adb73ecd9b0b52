package precis

import (
	"strings"
	"sync"

	"precis/internal/harness"
)

// Evidence says by what it is known who said something. The later ones are the stronger.
type Evidence uint8

// The kinds of evidence.
const (
	Assumed  Evidence = iota // nothing says otherwise
	Marked                   // by marks in the text
	Typed                    // by the role of the message, or the type of the block
	Recorded                 // by the recording or the wire, apart from the text
)

// Span is a passage of a message that one author said for one purpose.
type Span struct {
	Block    int // index in the message
	Part     int // of a result: index of the text in its content; -1: the block's own text
	From, To int // bytes of that text
	Said     Said
	Name     string // of the tool, of what it gave back
	Why      Evidence
}

// Speech says who said what in a list of messages. What it says of a message depends on the
// messages up to it alone. It is asked of what was said, never of a view: of a view the
// [Unit] says whose text it shows. It is safe for concurrent use.
type Speech struct {
	msgs []Message

	once     sync.Once
	pairs    *Pairs
	around   harness.Program // the family of the program around the model …
	aroundAt int             // … and the message that shows it
}

// SpeechOf returns who said what in msgs. Nothing is read before it is asked for.
func SpeechOf(msgs []Message) *Speech { return &Speech{msgs: msgs} }

// Speech returns who said what in the messages that the transcript holds now.
func (t *Transcript) Speech() *Speech {
	msgs := t.Messages()
	if t == nil {
		return SpeechOf(nil)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.speech == nil || len(t.speech.msgs) != len(msgs) {
		t.speech = SpeechOf(msgs)
	}
	return t.speech
}

// Len returns the number of messages.
func (s *Speech) Len() int { return len(s.msgs) }

func (s *Speech) read() {
	s.once.Do(func() {
		s.pairs = PairsOf(s.msgs)
		s.around, s.aroundAt = around(s.msgs)
	})
}

// Of returns what message i says: the bytes of its texts, and of the texts in its results,
// once and in order.
func (s *Speech) Of(i int) []Span {
	m := s.msgs[i]
	var out []Span
	for b, spans := range textSpans(m) {
		r, isResult := m.Content[b].(ToolResult)
		if isResult {
			spans = s.result(i, b, r)
		}
		out = append(out, spans...)
	}
	return out
}

// Answers returns what persons said in the results that message i holds, in order; nil when
// that is nothing.
func (s *Speech) Answers(i int) []Answer {
	var out []Answer
	for b, block := range s.msgs[i].Content {
		if r, ok := block.(ToolResult); ok {
			if a, _, ok := s.answer(i, b, r); ok {
				out = append(out, a)
			}
		}
	}
	return out
}

// answer returns what a person said in a result, and where that begins in its text.
func (s *Speech) answer(i, b int, r ToolResult) (a Answer, from int, ok bool) {
	tool := s.tool(i, b)
	if !r.IsError && !r.Refused && !harness.IsTool(tool, "answers", "asks", "own") {
		return a, 0, false
	}
	text := r.Text()
	family := harness.NoProgram
	if s.aroundAt <= i {
		family = s.around
	}
	result := harness.Result{Tool: tool, Text: text, IsError: r.IsError, Refused: r.Refused, Around: family}
	from, to := harness.Answer(result)
	if to == 0 {
		return a, 0, false
	}
	_, refused := harness.Refusal(result)
	return Answer{
		Handle: BlockHandle(i, b), Tool: tool, Text: text[from:to],
		Turn: harness.IsTool(tool, "turns"), Asked: harness.IsTool(tool, "answers", "asks"),
		Denied: refused == harness.Proven, Beside: harness.IsTool(tool, "own"),
	}, from, true
}

// tool returns the name of the tool whose result stands at a block.
func (s *Speech) tool(i, b int) string {
	s.read()
	call, ok := s.pairs.Call(BlockHandle(i, b))
	if !ok {
		return ""
	}
	use, _ := s.msgs[call.From].Content[call.Block].(ToolUse)
	return use.Name
}

// result returns the spans of a result: the tool's, and a person's where it holds an answer.
func (s *Speech) result(i, b int, r ToolResult) (out []Span) {
	a, from, answered := s.answer(i, b, r)
	to := from + len(a.Text)
	name := s.tool(i, b)
	at := 0 // of the part in the text of all
	for part, block := range r.Content {
		t, ok := block.(Text)
		if !ok {
			continue
		}
		span := func(begin, end int, said Said, why Evidence) {
			if begin < end {
				out = append(out, Span{Block: b, Part: part, From: begin, To: end, Said: said, Name: name, Why: why})
			}
		}
		tool := Said{Author: AuthorTool, Act: ActResult}
		begin, end := min(max(from-at, 0), len(t.Text)), min(max(to-at, 0), len(t.Text))
		if !answered {
			begin, end = len(t.Text), len(t.Text)
		}
		span(0, begin, tool, Typed)
		why, act := Marked, ActAnswer
		if r.Refused {
			why, act = Recorded, ActRefusal
		}
		span(begin, end, Said{Author: AuthorPerson, Act: act}, why)
		span(end, len(t.Text), tool, Typed)
		at += len(t.Text) + 1
	}
	return out
}

// Authors returns who said each block of message i: a person where a person speaks in it at
// all, else who begins it; nobody for calls and for what is not understood. What persons say
// in results, Answers finds.
func (s *Speech) Authors(i int) []Author { return s.msgs[i].authors() }

// Begins reports whether a person begins a turn with message i, or says more in one.
func (s *Speech) Begins(i int) bool {
	if s.msgs[i].IsUserTurn() {
		return true
	}
	if !s.msgs[i].HasToolResult() {
		return false
	}
	for _, a := range s.Answers(i) {
		if a.Turn {
			return true
		}
	}
	return false
}

// LastTurn returns the newest message that is shown and with which a person begins a turn,
// or says more in one; where there is none the newest that is shown and holds a summary in
// the user's place, since what goes on behind a summary alone is asked for there; -1 when
// there is neither. A nil shown shows all.
func (s *Speech) LastTurn(shown func(i int) bool) int {
	for _, asks := range []func(int) bool{s.Begins, func(i int) bool { return isSummary(s.msgs[i]) }} {
		for i := len(s.msgs) - 1; i >= 0; i-- {
			if (shown == nil || shown(i)) && asks(i) {
				return i
			}
		}
	}
	return -1
}

// Words returns what a person says in message i in words, without what programs wrap them
// in, a passage on each line; "" when that is nothing. Commands that the program carries out
// itself ask for nothing and are none.
func (s *Speech) Words(i int) string { return s.msgs[i].personsWords() }

// Says returns all that a person says in message i in words, a passage on each line: Words,
// and before them what is said in results; "" when that is nothing.
func (s *Speech) Says(i int) string {
	var all []string
	for _, a := range s.Answers(i) {
		all = append(all, a.Text)
	}
	if words := s.Words(i); words != "" {
		all = append(all, words)
	}
	return strings.Join(all, "\n")
}

// Passage is a passage of what a person says, as it stands.
type Passage struct {
	Handle Handle // of the block
	Text   string
}

// Passages returns what persons say in message i, what they quote and answer included, in
// order: a text for each passage that nothing of a program or of a tool parts.
func (s *Speech) Passages(i int) []Passage {
	var out []Passage
	last := Span{Block: -1}
	for _, span := range s.Of(i) {
		if span.Said.Author != AuthorPerson {
			continue
		}
		if span.Block == last.Block && span.Part == last.Part && span.From == last.To {
			span.From, out = last.From, out[:len(out)-1]
		}
		out = append(out, Passage{BlockHandle(i, span.Block), s.bytes(i, span)})
		last = span
	}
	return out
}

// bytes returns the text of a span of message i.
func (s *Speech) bytes(i int, span Span) string {
	block := s.msgs[i].Content[span.Block]
	if r, ok := block.(ToolResult); ok {
		block = r.Content[span.Part]
	}
	text, _ := block.(Text)
	return text.Text[span.From:span.To]
}

// authors returns who said each block, see [Speech.Authors].
func (m Message) authors() []Author {
	out := make([]Author, len(m.Content))
	r := blockReader{m: m, whole: true}
	for b, block := range m.Content {
		switch block := block.(type) {
		case Text:
			for k, span := range r.text(b, block.Text) {
				person := span.Said.Author == AuthorPerson && !blank(block.Text[span.From:span.To])
				if k == 0 || person {
					out[b] = span.Said.Author
				}
				if person {
					break
				}
				if out[b] == AuthorPerson {
					out[b] = AuthorUnknown // nothing but white space
				}
			}
		case ToolResult:
			out[b] = AuthorTool
		case Image, Document:
			switch out[b] = m.SaidOf(b).Author; {
			case out[b] != AuthorUnknown:
			case r.results, m.shown(b):
				out[b] = AuthorTool
			case m.Role == RoleUser:
				out[b] = AuthorPerson
			}
		}
	}
	return out
}

// shown reports whether a picture or document belongs to the result before it, as programs send what a call showed
// whose result is to hold text alone: nothing but other pictures stands between, and no person speaks in the result.
func (m Message) shown(b int) bool {
	for b--; b >= 0; b-- {
		switch block := m.Content[b].(type) {
		case Image, Document:
		case ToolResult:
			_, to := harness.Answer(harness.Result{Text: block.Text(), IsError: block.IsError, Refused: block.Refused, Around: harness.Wrappers})
			return to == 0
		default:
			return false
		}
	}
	return false
}

// textSpans yields the blocks of a message with the spans of their text, as far as the
// message alone tells; of results none.
func textSpans(m Message) func(func(int, []Span) bool) {
	return func(yield func(int, []Span) bool) {
		r := blockReader{m: m}
		for b, block := range m.Content {
			var spans []Span
			if t, ok := block.(Text); ok {
				spans = r.text(b, t.Text)
			}
			if !yield(b, spans) {
				return
			}
		}
	}
}

// blockReader reads the blocks of a message in order. Agents without native tools write
// results as texts; what follows in the message belongs to them.
type blockReader struct {
	m       Message
	whole   bool   // what a person says is not parted into what was typed and what is quoted
	tool    string // of the written result that a block may belong to
	before  string // the text of the block before, within results
	results bool
}

// text returns the spans of a text block.
func (r *blockReader) text(b int, text string) []Span {
	one := func(said Said, why Evidence) []Span {
		if text == "" {
			return nil
		}
		return []Span{{Block: b, Part: -1, To: len(text), Said: said, Name: r.tool, Why: why}}
	}
	said := r.m.SaidOf(b)
	switch {
	case said.Author == AuthorPerson:
		return r.person(b, text, [][2]int{{0, len(text)}}, said, Recorded)
	case said.Author != AuthorUnknown:
		return one(said, Recorded)
	case r.m.Role == RoleAssistant:
		return one(Said{Author: AuthorModel}, Typed)
	case r.m.Role == RoleSystem:
		return one(Said{Author: AuthorOperator, Act: ActInstruction}, Typed)
	case r.m.Role != RoleUser:
		return one(Said{}, Assumed)
	}
	tool := Said{Author: AuthorTool, Act: ActResult}
	if name, head := harness.ResultHead(text); head {
		r.tool, r.before, r.results = name, "", true
		return one(tool, Marked)
	}
	if harness.IsObservation(text) {
		return one(tool, Marked)
	}
	if r.before != "" && harness.Resumes(text) {
		r.results = false
	}
	answers := !r.results || harness.IsTool(r.tool, "answers") && harness.WrapsUser(text) ||
		harness.Comments(r.tool, r.before, text)
	r.before = text
	switch {
	case !answers && harness.State(text): // which stands behind the results
		return one(Said{Author: AuthorProgram, Act: ActEnvironment}, Marked)
	case !answers:
		return one(tool, Marked)
	case harness.IsSummary(text):
		return one(Said{Author: AuthorRecap, Act: ActSummary}, Marked)
	case harness.Loaded(text) && r.m.loadsTools(), harness.Wrote(text):
		return one(Said{Author: AuthorProgram, Act: actOf(text)}, Marked)
	case blank(text):
		return one(Said{}, Assumed)
	}
	begin := harness.End(text)
	words := harness.UserSpans(text[begin:])
	for k := range words {
		words[k][0], words[k][1] = words[k][0]+begin, words[k][1]+begin
	}
	return r.person(b, text, words, Said{Author: AuthorPerson, Act: ActRequest}, Assumed)
}

// actOf says what a text of the program is for, as far as it is known.
func actOf(text string) Act {
	switch list, stands := harness.Standing(text); {
	case stands && list.Rank == harness.Jobs:
		return ActNotice
	case stands:
		return ActInstruction
	case harness.State(text):
		return ActEnvironment
	case harness.Passing(text):
		return ActReminder
	}
	return ActUnknown
}

// mostQuotes is how many quotations of a text are told apart from what is typed between them; the
// last one goes on to the end of all.
const mostQuotes = 10_000

// person returns the spans of a text in which a person speaks in some passages: what was
// typed in them, what is quoted, and what the program writes around them.
func (r *blockReader) person(b int, text string, passages [][2]int, said Said, why Evidence) []Span {
	var out []Span
	at := 0
	add := func(to int, said Said, why Evidence) {
		if at < to {
			out = append(out, Span{Block: b, Part: -1, From: at, To: to, Said: said, Why: why})
			at = to
		}
	}
	program := Said{Author: AuthorProgram}
	for _, words := range passages {
		from, to := words[0], words[1]
		add(from, program, Marked)
		var quotes [][2]int
		if !r.whole {
			quotes = harness.Quoted(text[from:to])
			if n := len(quotes); n > mostQuotes { // nobody wrote that by hand
				quotes[mostQuotes-1][1] = quotes[n-1][1]
				quotes = quotes[:mostQuotes]
			}
		}
		for _, q := range quotes {
			add(from+q[0], said, why)
			add(from+q[1], Said{Program: said.Program, Author: said.Author, Act: ActQuote}, Marked)
		}
		add(to, said, why)
	}
	add(len(text), program, Marked)
	return out
}
