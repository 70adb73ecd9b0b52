package precis

import (
	"strings"
	"sync"

	"github.com/precis-dev/precis/internal/harness"
)

// Evidence is how the author of a text is known. Later values are stronger.
type Evidence uint8

// The kinds of evidence.
const (
	EvidenceAssumed  Evidence = iota // a default
	EvidenceMarked                   // by marks in the text
	EvidenceTyped                    // by the role of the message, or the type of the block
	EvidenceRecorded                 // by the recording or the wire, apart from the text
)

// SpeechSpan is a passage of a message by one author for one purpose.
type SpeechSpan struct {
	Block       int // index in the message
	Part        int // of a result: index of the text in its content; -1: the block's own text
	From, To    int // bytes of that text
	Attribution Attribution
	Name        string // of the tool, for its output
	Why         Evidence
}

// Speech finds the author of each text in a list of messages. The result for a message depends only
// on the messages up to it. It applies to originals, never to a view: in a view the [Unit] leads to
// the original of a text. It is safe for concurrent use.
type Speech struct {
	msgs []Message

	once     sync.Once
	pairs    *Pairs
	around   harness.Program // the family of the program around the model …
	aroundAt int             // … and the message that shows it
}

// SpeechOf returns the speech of msgs, which it reads on first use.
func SpeechOf(msgs []Message) *Speech { return &Speech{msgs: msgs} }

// Speech returns the speech of the messages that the transcript holds now.
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

// Spans returns the spans of message i: all bytes of its texts, and of the texts in its results, once
// and in order.
func (s *Speech) Spans(i int) []SpeechSpan {
	m := s.msgs[i]
	var out []SpeechSpan
	for b, spans := range textSpans(m) {
		r, isResult := m.Content[b].(ToolResult)
		if isResult {
			spans = s.result(i, b, r)
		}
		out = append(out, spans...)
	}
	return out
}

// Answers returns the words of persons in the results that message i holds, in order; nil for none.
func (s *Speech) Answers(i int) []UserAnswer {
	var out []UserAnswer
	for b, block := range s.msgs[i].Content {
		if r, ok := block.(ToolResult); ok {
			if a, _, ok := s.answer(i, b, r); ok {
				out = append(out, a)
			}
		}
	}
	return out
}

// answer returns the words of a person in a result, and where they begin in its text.
func (s *Speech) answer(i, b int, r ToolResult) (a UserAnswer, from int, ok bool) {
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
	return UserAnswer{
		Handle: BlockHandle(i, b), Tool: tool, Text: text[from:to],
		Turn: harness.IsTool(tool, "turns"), Asked: harness.IsTool(tool, "answers", "asks"),
		Denied: refused == harness.Proven, Beside: harness.IsTool(tool, "own"),
	}, from, true
}

// tool returns the name of the tool that produced the result at a block.
func (s *Speech) tool(i, b int) string {
	s.read()
	call, ok := s.pairs.Call(BlockHandle(i, b))
	if !ok {
		return ""
	}
	use, _ := s.msgs[call.From].Content[call.Block].(ToolUse)
	return use.Name
}

// result returns the spans of a result: the tool's, and a person's if it holds an answer.
func (s *Speech) result(i, b int, r ToolResult) (out []SpeechSpan) {
	a, from, answered := s.answer(i, b, r)
	to := from + len(a.Text)
	name := s.tool(i, b)
	at := 0 // of the part in the text of all
	for part, block := range r.Content {
		t, ok := block.(Text)
		if !ok {
			continue
		}
		span := func(begin, end int, said Attribution, why Evidence) {
			if begin < end {
				out = append(out, SpeechSpan{Block: b, Part: part, From: begin, To: end, Attribution: said,
					Name: name,
					Why:  why})
			}
		}
		tool := Attribution{Author: AuthorTool, Act: ActResult}
		begin, end := min(max(from-at, 0), len(t.Text)), min(max(to-at, 0), len(t.Text))
		if !answered {
			begin, end = len(t.Text), len(t.Text)
		}
		span(0, begin, tool, EvidenceTyped)
		why, act := EvidenceMarked, ActAnswer
		if r.Refused {
			why, act = EvidenceRecorded, ActRefusal
		}
		span(begin, end, Attribution{Author: AuthorPerson, Act: act}, why)
		span(end, len(t.Text), tool, EvidenceTyped)
		at += len(t.Text) + 1
	}
	return out
}

// Authors returns the author of each block of message i: a person if any passage is a person's,
// else the author of its beginning; unknown for calls and opaque blocks. For the words of persons
// in results see Answers.
func (s *Speech) Authors(i int) []Author { return s.msgs[i].Authors() }

// BeginsTurn reports whether a person begins a turn with message i, or adds to one.
func (s *Speech) BeginsTurn(i int) bool {
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

// LastTurn returns the newest shown message with which a person begins a turn or adds to one.
// Without one it returns the newest shown summary in the user's role, since such a summary contains
// the request; -1 when there is neither. A nil shown shows all.
func (s *Speech) LastTurn(shown func(i int) bool) int {
	for _, asks := range []func(int) bool{s.BeginsTurn, func(i int) bool { return isSummary(s.msgs[i]) }} {
		for i := len(s.msgs) - 1; i >= 0; i-- {
			if (shown == nil || shown(i)) && asks(i) {
				return i
			}
		}
	}
	return -1
}

// Words returns the words of a person in message i, without wrappers of programs, one passage on
// each line; "" for none. Commands that the program carries out itself are no request and are
// excluded.
func (s *Speech) Words(i int) string { return s.msgs[i].personsWords() }

// AllWords returns all words of persons in message i, one passage on each line: words in results, and
// then Words; "" for none.
func (s *Speech) AllWords(i int) string {
	var all []string
	for _, a := range s.Answers(i) {
		all = append(all, a.Text)
	}
	if words := s.Words(i); words != "" {
		all = append(all, words)
	}
	return strings.Join(all, "\n")
}

// Passage is a person's passage, unaltered.
type Passage struct {
	Handle Handle // of the block
	Text   string
}

// Passages returns the passages of persons in message i, including quotations and answers, in
// order. Adjacent spans form one passage; text of a program or tool separates passages.
func (s *Speech) Passages(i int) []Passage {
	var out []Passage
	last := SpeechSpan{Block: -1}
	for _, span := range s.Spans(i) {
		if span.Attribution.Author != AuthorPerson {
			continue
		}
		if span.Block == last.Block && span.Part == last.Part && span.From == last.To {
			span.From, out = last.From, out[:len(out)-1]
		}
		out = append(out, Passage{BlockHandle(i, span.Block), s.spanText(i, span)})
		last = span
	}
	return out
}

// spanText returns the text of a span of message i.
func (s *Speech) spanText(i int, span SpeechSpan) string {
	block := s.msgs[i].Content[span.Block]
	if r, ok := block.(ToolResult); ok {
		block = r.Content[span.Part]
	}
	text, _ := block.(Text)
	return text.Text[span.From:span.To]
}

// Authors returns the author of each block, see [Speech.Authors].
func (m Message) Authors() []Author {
	out := make([]Author, len(m.Content))
	r := blockReader{m: m, whole: true}
	for b, block := range m.Content {
		switch block := block.(type) {
		case Text:
			for k, span := range r.text(b, block.Text) {
				person := span.Attribution.Author == AuthorPerson && !blank(block.Text[span.From:span.To])
				if k == 0 || person {
					out[b] = span.Attribution.Author
				}
				if person {
					break
				}
				if out[b] == AuthorPerson {
					out[b] = AuthorUnknown // only white space
				}
			}
		case ToolResult:
			out[b] = AuthorTool
		case Image, Document:
			switch out[b] = m.AttributionOf(b).Author; {
			case out[b] != AuthorUnknown:
			case r.results, m.isResultOutput(b):
				out[b] = AuthorTool
			case m.Role == RoleUser:
				out[b] = AuthorPerson
			}
		}
	}
	return out
}

// isResultOutput reports whether a picture or document is output of the result before it: programs send it
// separately if a result may only hold text. Only other pictures may be in between, and no person
// may speak in the result.
func (m Message) isResultOutput(b int) bool {
	for b--; b >= 0; b-- {
		switch block := m.Content[b].(type) {
		case Image, Document:
		case ToolResult:
			_, to := harness.Answer(harness.Result{Text: block.Text(), IsError: block.IsError,
				Refused: block.Refused, Around: harness.Wrappers})
			return to == 0
		default:
			return false
		}
	}
	return false
}

// textSpans yields the blocks of a message with the spans of their text, as far as they can be
// derived from the message alone; no spans for results.
func textSpans(m Message) func(func(int, []SpeechSpan) bool) {
	return func(yield func(int, []SpeechSpan) bool) {
		r := blockReader{m: m}
		for b, block := range m.Content {
			var spans []SpeechSpan
			if t, ok := block.(Text); ok {
				spans = r.text(b, t.Text)
			}
			if !yield(b, spans) {
				return
			}
		}
	}
}

// blockReader reads the blocks of a message in order. Agents without native tools write results as
// texts; the following blocks of the message belong to the result.
type blockReader struct {
	m       Message
	whole   bool   // do not split a person's text into typed and quoted parts
	tool    string // the tool of a result written as text that a block may belong to
	before  string // the text of the block before, within results
	results bool
}

// text returns the spans of a text block.
func (r *blockReader) text(b int, text string) []SpeechSpan {
	one := func(said Attribution, why Evidence) []SpeechSpan {
		if text == "" {
			return nil
		}
		return []SpeechSpan{{Block: b, Part: -1, To: len(text), Attribution: said, Name: r.tool, Why: why}}
	}
	said := r.m.AttributionOf(b)
	switch {
	case said.Author == AuthorPerson:
		return r.person(b, text, [][2]int{{0, len(text)}}, said, EvidenceRecorded)
	case said.Author != AuthorUnknown:
		return one(said, EvidenceRecorded)
	case r.m.Role == RoleAssistant:
		return one(Attribution{Author: AuthorModel}, EvidenceTyped)
	case r.m.Role == RoleSystem:
		return one(Attribution{Author: AuthorOperator, Act: ActInstruction}, EvidenceTyped)
	case r.m.Role != RoleUser:
		return one(Attribution{}, EvidenceAssumed)
	}
	tool := Attribution{Author: AuthorTool, Act: ActResult}
	if name, head := harness.ResultHead(text); head {
		r.tool, r.before, r.results = name, "", true
		return one(tool, EvidenceMarked)
	}
	if harness.IsObservation(text) {
		return one(tool, EvidenceMarked)
	}
	if r.before != "" && harness.IsResumption(text) {
		r.results = false
	}
	answers := !r.results || harness.IsTool(r.tool, "answers") && harness.WrapsUser(text) ||
		harness.Comments(r.tool, r.before, text)
	isExpansion := harness.ExpandsCommand(r.before)
	r.before = text
	switch {
	case !answers && harness.IsEditorState(text): // the state follows the results
		return one(Attribution{Author: AuthorProgram, Act: ActEnvironment}, EvidenceMarked)
	case !answers:
		return one(tool, EvidenceMarked)
	case harness.IsSummary(text):
		return one(Attribution{Author: AuthorRecap, Act: ActSummary}, EvidenceMarked)
	case harness.SaysToolsLoaded(text) && r.m.loadsTools(), harness.IsProgramText(text), isExpansion:
		return one(Attribution{Author: AuthorProgram, Act: actOf(text)}, EvidenceMarked)
	case blank(text):
		return one(Attribution{}, EvidenceAssumed)
	}
	begin := harness.ProgramEnd(text)
	words := harness.UserSpans(text[begin:])
	for k := range words {
		words[k][0], words[k][1] = words[k][0]+begin, words[k][1]+begin
	}
	return r.person(b, text, words, Attribution{Author: AuthorPerson, Act: ActRequest}, EvidenceAssumed)
}

// actOf returns the purpose of a text of the program, if known.
func actOf(text string) Act {
	switch list, stands := harness.StandingList(text); {
	case stands && list.Rank == harness.Jobs:
		return ActNotice
	case stands:
		return ActInstruction
	case harness.IsEditorState(text):
		return ActEnvironment
	case harness.IsTransient(text):
		return ActReminder
	}
	return ActUnknown
}

// mostQuotes limits the quotations that are separated from the typed text around them; the last one
// extends to the end of the last quotation.
const mostQuotes = 10_000

// person returns the spans of a text with passages of a person: typed text, quotations, and the
// program's text around them.
func (r *blockReader) person(b int, text string, passages [][2]int, said Attribution,
	why Evidence) []SpeechSpan {
	var out []SpeechSpan
	at := 0
	add := func(to int, said Attribution, why Evidence) {
		if at < to {
			out = append(out, SpeechSpan{Block: b, Part: -1, From: at, To: to, Attribution: said, Why: why})
			at = to
		}
	}
	program := Attribution{Author: AuthorProgram}
	for _, words := range passages {
		from, to := words[0], words[1]
		add(from, program, EvidenceMarked)
		var quotes [][2]int
		if !r.whole {
			quotes = harness.Quoted(text[from:to])
			if n := len(quotes); n > mostQuotes { // not written by hand
				quotes[mostQuotes-1][1] = quotes[n-1][1]
				quotes = quotes[:mostQuotes]
			}
		}
		for _, q := range quotes {
			add(from+q[0], said, why)
			add(from+q[1], Attribution{Program: said.Program, Author: said.Author, Act: ActQuote},
				EvidenceMarked)
		}
		add(to, said, why)
	}
	add(len(text), program, EvidenceMarked)
	return out
}

// isSummary reports whether a message of the user's role holds a summary that a program
// put in the place of earlier messages.
func isSummary(m Message) bool {
	if m.Role != RoleUser {
		return false
	}
	for i, b := range m.Content {
		if t, ok := b.(Text); ok && (m.AttributionOf(i).Author == AuthorRecap || harness.IsSummary(t.Text)) {
			return true
		}
	}
	return false
}
