package condense

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/model"
)

// Flaw is a reason why a model's answer cannot be used as a summary.
type Flaw string

// The flaws of an answer.
const (
	FlawEmpty         Flaw = "empty"            // no text at all
	FlawRefused       Flaw = "refused"          // the model declined
	FlawToolCall      Flaw = "tool_call"        // it called a tool instead
	FlawReasoningOnly Flaw = "reasoning_only"   // it has only reasoning
	FlawMarkup        Flaw = "markup"           // JSON, an HTML document, or tool calls written as text
	FlawTooLarge      Flaw = "too_large"        // more tokens than allowed
	FlawNoProgress    Flaw = "no_progress"      // hardly smaller than the replaced messages
	FlawSections      Flaw = "missing_sections" // more than a third of the sections is missing
	FlawTruncated     Flaw = "truncated"        // the output limit was reached before it was complete
	FlawRepeats       Flaw = "repeats"          // the same text is repeated
)

// answerLimits are the size limits of an answer.
type answerLimits struct {
	MaxTokens int              // of the summary; 0: no limit
	Replaces  int              // tokens of the replaced messages; 0: unknown
	Count     func(string) int // tokens of a text; nil: a token is four characters
}

// leastGain is the least saving of a summary, in percent of the replaced messages.
const leastGain = 20

// checkAnswer returns the summary in an answer, without the model's reasoning and without wrapping
// tags. If the answer cannot be used, it returns the flaw and one sentence for [Prompt.Wrong],
// which does not quote the answer. It fails closed: a text with a flaw is not returned.
//
// An answer that was cut off is used if <summary> was closed, or if every section is present, so
// that only the end of the last one is missing; " …" marks the place. An answer that holds both
// text and a tool call is used only if every section is present.
func checkAnswer(resp model.Response, p Prompt, limits answerLimits) (text string, flaw Flaw, why string) {
	text, closed := summaryIn(resp.Text)
	if flaw, why = noTextFlaw(resp, text); flaw != "" {
		return "", flaw, why
	}
	sections := p.template().sections
	missing := missingSections(text, sections)
	found := len(sections) - len(missing)
	if flaw, why = notSummaryFlaw(text, found, len(sections)); flaw != "" {
		return "", flaw, why
	}
	all := len(sections) > 0 && len(missing) == 0 && !endsInHeading(text, sections)
	switch {
	case resp.Truncated && !closed && !all:
		return "", FlawTruncated, "It reached the output limit before it was complete: think less, write shorter sections, and finish the summary."
	case found < len(sections)*2/3:
		return "", FlawSections, "These sections were missing: " + strings.Join(missing, ", ") +
			". Write every section with its number and heading."
	case resp.ToolCalls > 0 && !all:
		return "", FlawToolCall, noTools
	}
	if resp.Truncated && !closed {
		text += " …"
	}
	if flaw, why = limits.exceeded(text); flaw != "" {
		return "", flaw, why
	}
	return text, "", ""
}

// endsInHeading reports whether the last section of a text is empty.
func endsInHeading(text string, sections []section) bool {
	last := text[strings.LastIndexByte(text, '\n')+1:]
	h, ok := headingOf(last)
	bare := h.whole || strings.HasSuffix(last, ":") || strings.HasSuffix(last, "：") ||
		strings.HasSuffix(last, "**")
	return ok && bare && (sectionNamed(sections, h) >= 0 || h.number == len(sections))
}

const noTools = "It called a tool: call none, even if tools are declared, and write the summary as plain text."

// noTextFlaw returns the flaw of an answer that holds no text outside of
// reasoning, or that the API marks as a refusal.
func noTextFlaw(resp model.Response, text string) (Flaw, string) {
	switch {
	case resp.Refused:
		return FlawRefused, declined
	case text != "":
		return "", ""
	case resp.ToolCalls > 0:
		return FlawToolCall, noTools
	case resp.Reasoned || strings.TrimSpace(resp.Text) != "":
		return FlawReasoningOnly, "It held thoughts and no summary: think briefly and then write the summary itself."
	}
	return FlawEmpty, "It was empty: write the summary as plain text."
}

const declined = "It declined: nothing is asked but a record of what was already said, so write the summary, and name in it what cannot be described."

// notSummaryFlaw returns the flaw of a text that is not a summary. A text with enough
// of the sections is one, whatever it quotes.
func notSummaryFlaw(text string, found, sections int) (Flaw, string) {
	const plainText = " instead of plain text: write the sections as plain text, without any such markup."
	structured := found > 0 && found >= sections*2/3
	switch {
	case isData(text):
		return FlawMarkup, "It was JSON, HTML or XML" + plainText
	case callStart.MatchString(text), !structured && writesCalls(text):
		return FlawMarkup, "It was a tool call written as text" + plainText
	case found == 0 && refuses(text):
		return FlawRefused, declined
	case repeats(text):
		return FlawRepeats, "It said the same over and over: say everything once, and stop after the last section."
	}
	return "", ""
}

// exceeded returns the flaw of a text that is too large.
func (l answerLimits) exceeded(text string) (Flaw, string) {
	if l.Count == nil {
		l.Count = digest.EstimateTokens
	}
	n := l.Count(text)
	switch {
	case l.MaxTokens > 0 && n > l.MaxTokens:
		return FlawTooLarge, fmt.Sprintf("The summary had %d tokens and may have %d: shorten what is finished, and keep rules, requests and open work.", n, l.MaxTokens)
	case l.Replaces > 0 && n*100 > l.Replaces*(100-leastGain):
		return FlawNoProgress, fmt.Sprintf("The summary had %d tokens and was to replace %d: write %d at most.", n, l.Replaces, l.Replaces/2)
	}
	return "", ""
}

var (
	dataStart = lazyregexp.New(`(?i)^(?:[\[{]\s*["{\[]|<!doctype|<\?xml|<(?:html|head|body|div|section|article|table|ul|ol|p|h[1-6])[\s>])`)
	// callStart matches a tool call that a model writes as text, including the form of
	// [ToolsAsText].
	callStart  = lazyregexp.New(`(?i)^(?:` + callSyntax + `|<[a-z]+(?:_[a-z]+)+>)`)
	callInside = lazyregexp.New(`(?im)^[ \t]*(?:` + callSyntax + `)`)
)

const callSyntax = `<(?:antml:|\|?)(?:tool_use|tool_calls?|tool_code|function_calls?|invoke)\b|<function=|<[|｜]tool|\[TOOL_CALLS\]|\[Tool Use: |\[Tool Result(?: \(Error\))?\]`

// isData reports whether a text is machine-readable data.
func isData(text string) bool {
	if dataStart.MatchString(text) {
		return true
	}
	return (text[0] == '{' || text[0] == '[') && json.Valid([]byte(text))
}

// writesCalls reports whether a text holds tool calls outside of code.
func writesCalls(text string) bool {
	var prose strings.Builder
	var code fence
	for line := range strings.Lines(text) {
		if !code.advance(line) {
			prose.WriteString(line)
		}
	}
	return callInside.MatchString(prose.String()) || len(toolcall.ParseXML(prose.String())) > 0
}

// shortRefusal is the most characters of a text that is taken for a refusal
// because it begins like one.
const shortRefusal = 500

var refusals = lazyregexp.New(`(?i)^(?:` + strings.Join([]string{
	`(?:i'm|i am|we're) (?:very |so |really )?sorry\b`, `sorry, `, `my apologies`, `i apologi[sz]e`,
	`unfortunately,? i (?:can|am|will)`,
	`i (?:can't|cannot|can not|won't|will not|am unable|am not able|must decline|have to decline)\b`,
	`i'm (?:unable|not able|not comfortable)\b`, `as an ai\b`,
	`(?:je suis (?:vraiment )?désolée?|désolée?|je ne peux (?:pas|malheureusement)|je refuse)`,
	`(?:lo siento|no puedo|me temo que no)`,
	`(?:ich kann (?:das |dies |diese[nrs]? |dir |ihnen |leider )*nicht|es tut mir leid|tut mir leid|leider kann ich)`,
	`(?:mi dispiace|non posso|purtroppo non)`, `(?:desculpe|sinto muito|não posso|lamento)`,
	`(?:het spijt me|ik kan (?:dit |dat |helaas )?niet|sorry)`,
	`(?:извините|к сожалению|я не могу)`, `(?:申し訳|すみませんが|お手伝いできません)`, `(?:抱歉|对不起|很遗憾|我无法|我不能|無法)`,
	`(?:죄송|도와드릴 수 없)`, `(?:przepraszam|nie mogę)`, `(?:عذرًا|عذرا|آسف|لا أستطيع)`,
}, "|") + `)`)

// refuses reports whether a text is worded as a refusal.
func refuses(text string) bool {
	return utf8.RuneCountInString(text) <= shortRefusal &&
		refusals.MatchString(strings.ReplaceAll(text, "’", "'"))
}

// repeats reports whether a text is caught in a loop: the same run of bytes
// occurs ten times in a row, or lines that occur five times or more make up
// half of the text.
func repeats(text string) bool {
	const least, window, shingle = 240, 2000, 24
	if len(text) < least {
		return false
	}
	for from := 0; ; from += window / 2 {
		to := min(from+window, len(text))
		part := text[max(to-window, 0):to]
		distinct := map[string]bool{}
		for i := 0; i+shingle <= len(part); i++ {
			distinct[part[i:i+shingle]] = true
		}
		if len(distinct)*10 <= len(part)-shingle {
			return true
		}
		if to == len(text) {
			break
		}
	}
	times, again := map[string]int{}, 0
	for line := range strings.Lines(text) {
		times[strings.TrimSpace(line)]++
	}
	for line, n := range times {
		if n >= 5 && len(line) >= 20 {
			again += n * len(line)
		}
	}
	return again*2 > len(text)
}
