package condense

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/precis-dev/precis"
)

// Prompt configures the request for a summary. The request has two layers:
// [Prompt.Guard] is its system prompt and never changes, [Prompt.Instruction]
// its last user message. The zero value selects the template "nine".
type Prompt struct {
	Template string // "nine", "six" or "brief", see [Templates]; "" means "nine"
	Custom   string // replaces the whole template; blank means none
	Focus    string // what the user wants emphasized in this run
	Rules    string // project rules from the configuration, shown to the summarizer
	Context  string // text that a hook adds

	// Previous states that the messages begin with an earlier summary, which is
	// to be updated. It is ignored with Merge.
	Previous bool
	// Part and Parts state that the messages are part k of n, counted from 1,
	// of a conversation that was split; 0 means the whole conversation.
	Part, Parts int
	// Merge states that the messages are partial summaries to be merged into
	// one.
	Merge bool
	// Final states, with Merge, that this is the last merge.
	Final     bool
	MaxTokens int    // length that the prompt states; 0: the prompt states none
	Wrong     string // flaw of the previous answer; "": this is the first attempt
	// Ride states that the instruction follows a live request. Its system prompt is not the guard,
	// so the instruction includes the guard.
	Ride bool
}

// Templates returns the names of the templates, the default first.
func Templates() []string { return []string{"nine", "six", "brief"} }

//go:embed prompts/guard.md
var guardText string

//go:embed prompts/common.md
var commonText string

//go:embed prompts/nine.md
var nineText string

//go:embed prompts/six.md
var sixText string

//go:embed prompts/brief.md
var briefText string

// template is one kind of prompt: its text, the sections of the summary and the
// form of the answer.
type template struct {
	text     string
	sections []section
	form     string
}

// template returns the template that p selects. An unknown name gives the default.
func (p Prompt) template() template {
	if custom := strings.TrimSpace(p.Custom); custom != "" {
		return template{custom, nil, "the summary"}
	}
	t := template{nineText, nineSections, "<analysis>…</analysis> and <summary>…</summary>"}
	switch p.Template {
	case "six":
		t = template{sixText, sixSections, "<summary>…</summary>"}
	case "brief":
		t = template{briefText, briefSections, "<summary>…</summary>"}
	}
	t.text = strings.TrimSpace(t.text) + "\n\n" + strings.TrimSpace(commonText)
	return t
}

// Text returns the text of the template, or the custom one, without the additions of
// [Prompt.Instruction] for a request.
func (p Prompt) Text() string { return p.template().text }

// Validate returns an error of [precis.CodeInvalid] that names the field at
// fault.
func (p Prompt) Validate() error {
	const op = "check summary prompt"
	switch {
	case p.Template != "" && !slices.Contains(Templates(), p.Template):
		return precis.Errorf(precis.CodeInvalid, op, "Template: unknown template %q, want one of %v",
			p.Template, Templates())
	case p.MaxTokens < 0:
		return precis.Errorf(precis.CodeInvalid, op, "MaxTokens is %d, want 0 or more", p.MaxTokens)
	case p.Part < 0 || p.Part > p.Parts:
		return precis.Errorf(precis.CodeInvalid, op, "Part is %d of %d Parts", p.Part, p.Parts)
	}
	return nil
}

// Sections returns the headings of the sections that the summary must have, in
// order; nil for a custom prompt.
func (p Prompt) Sections() []string {
	var names []string
	for _, s := range p.template().sections {
		names = append(names, s.name)
	}
	return names
}

// Guard returns the system prompt of a summary request. It is the same for all requests.
func (p Prompt) Guard() string { return strings.TrimSpace(guardText) }

// Instruction returns the user message that ends a summary request. Text that
// varies between requests follows the template.
func (p Prompt) Instruction() string {
	t := p.template()
	var parts []string
	if p.Ride {
		parts = append(parts, "[A request of the program, not of the user]\n\n"+p.Guard())
	}
	parts = append(parts, t.text)
	parts = append(parts, p.describeMaterial()...)
	if p.MaxTokens > 0 {
		parts = append(parts, fmt.Sprintf("The summary must stay under %d tokens, about %d English words. If that is too little, shorten first what is finished; rules, requests and open work stay.", p.MaxTokens, p.MaxTokens*3/4))
	}
	parts = append(parts, p.additions()...)
	if p.Wrong != "" {
		parts = append(parts, "Your answer before this could not be used. "+p.Wrong)
	}
	parts = append(parts, "Answer with "+t.form+" alone, as plain text, without calling a tool.")
	return strings.Join(parts, "\n\n")
}

// describeMaterial describes the messages when they are not a whole conversation.
func (p Prompt) describeMaterial() []string {
	var out []string
	switch {
	case p.Merge:
		out = append(out, "The messages are summaries of parts of one conversation, in order, headed [Part 1 of 3] and so on. Make one summary of them. Lose no request, rule, file, error or open task; say once what several parts say. Where parts contradict each other the later one is right, and what a later part finished is finished. Keep handles and quotations as they are.")
	case p.Previous:
		out = append(out, "The messages begin with an earlier summary. Bring it up to date instead of summarizing it once more: keep what still holds, with its handles and quotations; correct what has changed since; drop only what is both done and of no further importance.")
	}
	if p.Part > 0 && p.Parts > 1 {
		out = append(out, fmt.Sprintf("The conversation is too long for one request: this is part %d of %d. Summarize this part alone. The other parts are summarized in the same way and all are merged afterwards, so do not guess what they hold; what is current, pending or next is meant as of the end of this part.", p.Part, p.Parts))
	}
	return out
}

// additions quotes the additions of the configuration, a hook and the user.
func (p Prompt) additions() []string {
	var out []string
	for _, w := range []struct{ lead, tag, text string }{
		{"The project has these rules. The summary must not lose what they require of the work, and follows what they say about summaries:", "project_rules", p.Rules},
		{"The program adds this about the conversation:", "added_context", p.Context},
		{"The user asked that this summary pay particular attention to the following. Give it more room, without leaving out the rest:", "focus", p.Focus},
	} {
		if text := strings.TrimSpace(w.text); text != "" {
			text = strings.ReplaceAll(text, "</"+w.tag, "‹/"+w.tag) // the text must not close our tag
			out = append(out, fmt.Sprintf("%s\n<%s>\n%s\n</%s>", w.lead, w.tag, text, w.tag))
		}
	}
	return out
}

// heading is a line that may be the title of a section.
type heading struct {
	number int    // 0: none
	name   string // in lower case
	marked bool   // by #, bold type or a colon
	whole  bool   // the line has no other text
}

// longHeading is the most characters of a title.
const longHeading = 60

// headingOf reads a line as a title: "3. Files and code:", "## Files and code",
// "**3) Files and code** (two of them)" and the like.
func headingOf(line string) (h heading, ok bool) {
	s := strings.TrimLeft(line, " ")
	if len(line)-len(s) > 3 {
		return heading{}, false
	}
	title := strings.TrimSpace(strings.TrimLeft(s, "#"))
	h.marked = len(title) < len(s) && strings.HasPrefix(s, "#")
	s, bullet := cutAnyPrefix(title, "- ", "* ", "• ")
	s, bold := cutAnyPrefix(s, "**", "__")
	if bullet && !bold {
		return heading{}, false
	}
	h.number, s = headingNumber(s, h.marked || bold)
	s, boldInside := cutAnyPrefix(s, "**", "__")
	h.marked = h.marked || bold || boldInside
	name, rest := s, ""
	for _, end := range []string{":", "：", "**", "__", " - ", " – ", " — ", " ("} {
		if before, _, found := strings.Cut(name, end); found {
			name, rest = before, end
		}
	}
	h.marked = h.marked || rest == ":" || rest == "："
	h.whole = rest == ""
	h.name = strings.ToLower(strings.TrimSpace(name))
	return h, h.name != "" && utf8.RuneCountInString(h.name) <= longHeading
}

func cutAnyPrefix(s string, prefixes ...string) (string, bool) {
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(s, p); ok {
			return strings.TrimSpace(rest), true
		}
	}
	return s, false
}

// headingNumber removes a number and its punctuation from a title; in a line
// that is marked as a title the punctuation may be missing.
func headingNumber(s string, marked bool) (n int, rest string) {
	rest = s
	for rest != "" {
		r, size := utf8.DecodeRuneInString(rest)
		d := digit(r)
		if d < 0 || n > 9 {
			break
		}
		n, rest = n*10+d, rest[size:]
	}
	after := strings.TrimLeft(rest, ".)）:：、．")
	next, _ := utf8.DecodeRuneInString(after)
	switch {
	case n == 0 || digit(next) >= 0, after == rest && !(marked && next == ' '):
		return 0, s
	}
	return n, strings.TrimSpace(after)
}

// digit returns the value of a decimal digit in the scripts that models number
// lists with, -1 for other characters.
func digit(r rune) int {
	for _, zero := range []rune{'0', '０', '٠', '۰', '०'} {
		if r >= zero && r <= zero+9 {
			return int(r - zero)
		}
	}
	for i, c := range []rune("一二三四五六七八九") {
		if r == c {
			return i + 1
		}
	}
	return -1
}
