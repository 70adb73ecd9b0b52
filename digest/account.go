package digest

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"precis"
	"precis/internal/greedy"
	"precis/internal/harness"
	"precis/internal/lazyregexp"
	"precis/internal/plain"
	"precis/internal/preview"
	"precis/internal/prose"
	"precis/internal/toolcall"
	"precis/retain"
)

// ownSentence is a sentence, or an entry of a list, that the agent has said.
type ownSentence struct {
	text       int // in the index
	start, end int
	tokens     float64
	words      []string // that say something, see contentWords
	weight     float64  // of its kind: what is concluded tells more than what is done next
	narrates   bool
	title      span // of the list that it is an entry of
}

// The part of a digest, in percent, that what was asked and what is in force leave to the agent's own words, and the part of
// these, in percent, that its last text may take before all others.
const (
	leastAccount = 12
	lastText     = 35
)

// fewWords is how many words a sentence has at least that concludes nothing: "Their tests." says nothing where it does not stand.
const fewWords = 4

// mostSentences is how many of the newest sentences are weighed, and mostOfText how many bytes of a text, its last, are read for them.
const (
	mostSentences = 4000
	mostOfText    = 64 << 10
)

// What a sentence is worth. Measured with what recorded summaries by models say of errors, decisions and what is next (824 statements):
// a digest of 3500 tokens with the last four texts tells 0.451 of it, one with two fifths for sentences, newest first, 0.516; by
// words and names 0.525; with older ones worth less 0.532; by the size to the power of 0.6 0.550. Weights of kinds from a half to
// twice of these change 0.002.
const (
	weightNarration  = 0.25 // of what is done next
	weightConclusion = 1.6  // of what was found, decided, given up, left open
	weightWord       = 0.1  // of a word; a name is worth how likely it is needed again
	weightTold       = 0.15 // of a word that was told before
	weightShown      = 0.1  // of a name that was
	oldest           = 0.15 // of the first one; the newest has 1
	decay            = 3    // how fast it falls with age
	sizePower        = 0.6
)

// ownWords splits what the agent said in the covered messages, newest first.
func (in *input) ownWords() []ownSentence {
	var out []ownSentence
	for i := len(in.x.Texts) - 1; i >= 0 && len(out) < mostSentences; i-- {
		t := &in.x.Texts[i]
		from, spoken := in.speaks(t)
		if !spoken || !in.covered(t.Handle.From) || in.isOlder(i) {
			continue
		}
		fenced, titles := false, titles{}
		if len(t.Body) > mostOfText { // its end says what is next
			from = len(t.Body) - mostOfText
			from += strings.IndexByte(t.Body[from:], '\n') + 1
		}
		for start := from; start < len(t.Body); {
			end := len(t.Body)
			if n := strings.IndexByte(t.Body[start:], '\n'); n >= 0 {
				end = start + n + 1
			}
			line := strings.TrimSpace(t.Body[start:end])
			if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
				fenced = !fenced
				start = end
				continue
			}
			if !fenced && strings.HasPrefix(line, toolcall.ActionStart) {
				n := strings.Index(t.Body[start:], toolcall.ActionEnd)
				if n < 0 {
					break // cut off
				}
				start += n + len(toolcall.ActionEnd)
				continue
			}
			if !fenced && isOpened(line) && !strings.Contains(t.Body[end:], "</"+line[1:]) {
				break // a call in text that was cut off
			}
			if !fenced && !prose.IsCode(line) && !harness.IsRemark(line) {
				n := len(out)
				out = in.sentences(out, i, start, end)
				over := titles.over(t.Body, start, end)
				for k := range out[n:] {
					out[n+k].title = over
				}
			}
			start = end
		}
	}
	return out
}

// speaks reports whether the agent says a text, in words or by a call, and where what it says begins.
func (in *input) speaks(t *retain.Text) (from int, ok bool) {
	if t.Source == retain.Said {
		return 0, true
	}
	if t.Source != retain.Called || t.Call < 0 {
		return 0, false
	}
	c := &in.x.Calls[t.Call]
	if t.Field != "" {
		return 0, harness.Speaks(c.Name, t.Field)
	}
	for a := range c.Arguments() { // a short call on one line
		return len(c.Name), harness.Speaks(c.Name, a.Name)
	}
	return 0, false
}

// isOpened reports whether a line is the tag that opens a call in text: one whose name no person types.
func isOpened(line string) bool {
	return len(line) > 2 && line[0] == '<' && line[len(line)-1] == '>' && strings.Contains(line, "_") && strings.Trim(line[1:len(line)-1], "abcdefghijklmnopqrstuvwxyz_") == ""
}

// sentences adds the sentences of a line.
func (in *input) sentences(out []ownSentence, text, start, end int) []ownSentence {
	const least, longest = 100, 600 // bytes of a part, where the line has as many
	body := in.x.Texts[text].Body
	last := len(out) == 0 || out[0].text == text // of it everything
	if at := courtesies.FindStringIndex(body[start:end]); at != nil {
		start += at[1]
	}
	for start < end {
		to := end
		for at := start + least; at < end-1; at++ {
			if at-start > longest && (body[at] == ' ' || at-start > 2*longest && utf8.RuneStart(body[at])) {
				to = at
				break
			}
			if c := body[at]; (c == '.' || c == '!' || c == '?' || c == ';') && (body[at+1] == ' ') {
				to = at + 1
				break
			} else if r, n := utf8.DecodeRuneInString(body[at:]); n > 1 && strings.ContainsRune("。！？；", r) {
				to = min(at+n, end)
				break
			}
		}
		part := strings.TrimSpace(body[start:to])
		concludes := prose.Concludes(part)
		if w := contentWords(part); last && len(w) > 0 || len(w) >= fewWords || len(w) > 0 && (concludes || passes.MatchString(part)) {
			r := ownSentence{text: text, start: start, end: to, words: w, tokens: float64(in.count(part)) + 1}
			r.weight = 1
			if prose.Narrates(part) || announces(part) && len(w) < tellsItself {
				r.weight, r.narrates = weightNarration, true
			} else if concludes {
				r.weight = weightConclusion
			}
			out = append(out, r)
		}
		start = to
	}
	return out
}

// courtesies are sentences before the ones that say something.
var courtesies = lazyregexp.New(`(?i)^\s*(?:(?:(?:you're (?:absolutely )?(?:right|correct),? and )?(?:` +
	`(?:i apologi[sz]e|i'm sorry|i am sorry|sorry|(?:my )?apologies) (?:for|about) (?:the|my|any|this|that)(?: previous| repeated| earlier)? (?:confusion|inconvenience|oversight|mistakes?|errors?|misunderstanding|delay)` +
	`|thank(?:s| you) for (?:your patience|(?:the|your|that) (?:feedback|clarification|correction|information|reminder)|pointing (?:that|this|it) out|letting me know))[.!]) +)+`)

// tellsItself is how many words a sentence has at least that announces something and says enough without it.
const tellsItself = 8

// announces reports whether a sentence ends in a colon: what it says stands behind it.
func announces(part string) bool {
	part = strings.TrimRight(part, " *_")
	return strings.HasSuffix(part, ":") || strings.HasSuffix(part, "：")
}

// contentWords returns the words of a text that say something, in lower case; of scripts without spaces, their pairs of characters.
func contentWords(text string) (out []string) {
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
		n := utf8.RuneCountInString(w)
		if first, _ := utf8.DecodeRuneInString(w); unicode.In(first, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
			rs := []rune(w)
			for i := 0; i+1 < len(rs); i += 2 {
				out = append(out, string(rs[i:i+2]))
			}
			continue
		}
		if n >= 4 || n >= 2 && strings.ContainsFunc(w, unicode.IsDigit) {
			out = append(out, strings.ToLower(w))
		}
	}
	return out
}

// account writes where the work stands in the agent's own words: its last text, and of what it said before what tells most,
// newest first. What the digest tells otherwise must be covered already.
func (in *input) account(d *draft, budget int) {
	const title, least = "## Where the work stands, in the agent's own words, newest first", 8
	budget = min(budget, d.left)
	left := float64(budget - d.count(title) - 2)
	all := in.withoutSteps(in.ownWords())
	if left < least {
		return
	}
	thoughts := in.thoughts(all)
	for len(thoughts) > 0 && in.count(strings.Join(thoughts, "\n")) > int(left)*lastText/100 {
		thoughts = thoughts[:len(thoughts)-1]
	}
	left -= float64(in.count(strings.Join(thoughts, "\n")))
	if len(all) == 0 {
		d.section(title, thoughts, d.left)
		return
	}
	t := &telling{in: in, keep: make([]bool, len(all)), all: all, told: map[string]bool{}, titled: map[titleOf]bool{}, newest: in.x.Texts[all[0].text].Handle.From}
	last := 0
	for last < len(all) && all[last].text == all[0].text {
		last++
	}
	for i, room := last-1, left*lastText/100; i >= 0; i-- { // it ends with what is next
		if all[i].tokens <= room || i == last-1 && all[i].tokens <= left {
			room -= all[i].tokens
			left -= t.take(i)
		}
	}
	greedy.Take(len(all), func(i int) float64 { return t.value(i) }, func(i int) bool {
		if all[i].tokens <= left && !t.twice(i) {
			left -= t.take(i)
		}
		return left > least
	})
	lines := append(thoughts, t.lines()...)
	for len(lines) > 1 && d.count(title)+d.listed(lines) > budget+budget/10 { // handles and marks are not counted before
		lines = lines[:len(lines)-1]
	}
	d.section(title, lines, d.left)
}

// withoutSteps leaves out the sentences that are steps of the plan: these are told as such.
func (in *input) withoutSteps(all []ownSentence) []ownSentence {
	steps := map[string]bool{}
	for _, s := range in.standing().Steps {
		steps[s.Text] = true
	}
	if len(steps) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(r ownSentence) bool {
		part := strings.TrimSpace(in.x.Texts[r.text].Body[r.start:r.end])
		return steps[strings.TrimSpace(part[len(marksOf(part)):])]
	})
}

// What is told of an agent's reasoning: of so many messages at most, so many bytes of each, where the agent has acted at least
// so many messages without a word.
const (
	mostThoughts  = 3
	mostOfThought = 240
	silent        = 4
)

// thoughts tells the ends of what the agent has reasoned since it last said something, newest first: that is where the work
// stands, where it acts without words.
func (in *input) thoughts(said []ownSentence) (out []string) {
	after := -1
	if len(said) > 0 {
		after = in.x.Texts[said[0].text].Handle.From
	}
	newest := -1
	for i := len(in.messages) - 1; i > after && len(out) < mostThoughts; i-- {
		if in.messages[i].Role != precis.RoleAssistant || !in.covered(i) {
			continue
		}
		if newest = max(newest, i); newest-after < silent {
			return nil
		}
		for _, b := range in.messages[i].Content {
			t, ok := b.(precis.Thinking)
			if !ok {
				continue
			}
			end := strings.Join(lastSentences(t.Text, mostOfThought), " ")
			if len(contentWords(end)) >= fewWords {
				out = append(out, "- "+in.handle(i)+", in its reasoning: "+plain.Text(end))
			}
		}
	}
	return out
}

// telling chooses among the sentences.
type telling struct {
	in     *input
	all    []ownSentence
	keep   []bool
	told   map[string]bool  // words
	newest int              // message
	titled map[titleOf]bool // titles that are told

	narrated int // sentences that are told of what was done next
}

// take keeps a sentence and returns its size.
func (t *telling) take(i int) float64 {
	r := &t.all[i]
	t.keep[i] = true
	for _, w := range r.words {
		t.told[w] = true
	}
	t.in.cover.Piece(r.text, r.start, r.end)
	size := r.tokens
	if at := (titleOf{r.text, r.title}); r.title.end > 0 && !t.titled[at] {
		t.titled[at] = true
		size += float64(t.in.count(r.title.of(t.in.x.Texts[r.text].Body))) + 1
	}
	return size
}

// titleOf is a title in a text.
type titleOf struct {
	text int
	at   span
}

// mostNarrated is how many sentences on what is done next are told before the last text: where nothing else was said, the calls tell it.
const mostNarrated = 3

// twice reports whether a sentence was told in the same words, or is one more of what was done next.
func (t *telling) twice(i int) bool {
	r := &t.all[i]
	for k := range t.all {
		if o := &t.all[k]; t.keep[k] && slices.Equal(o.words, r.words) {
			return true
		}
	}
	if r.narrates {
		t.narrated++
	}
	return r.narrates && t.narrated > mostNarrated
}

// value is the worth of a sentence for its size, beside those that are kept; 0 for these.
func (t *telling) value(i int) float64 {
	if t.keep[i] {
		return 0
	}
	r, v := &t.all[i], 0.0
	for _, w := range r.words {
		if t.told[w] {
			v += weightWord * weightTold
		} else {
			v += weightWord
		}
	}
	t.in.x.Each(r.text, r.start, r.end, func(f int) {
		w := t.in.worth[f]
		if t.in.cover.Seen(f) {
			w *= weightShown
		}
		v += w
	})
	age := float64(t.newest-t.in.x.Texts[r.text].Handle.From) / float64(t.newest+1)
	return v * r.weight * (oldest + (1-oldest)*math.Exp(-age*decay)) / math.Pow(r.tokens, sizePower)
}

// lines writes the kept sentences, those of a message together.
func (t *telling) lines() []string {
	in, all := t.in, t.all
	var out []string
	said := map[string]bool{} // titles
	for from := 0; from < len(all); {
		to := from
		at := in.x.Texts[all[from].text].Handle.From
		var parts []int
		for to < len(all) && in.x.Texts[all[to].text].Handle.From == at {
			if t.keep[to] {
				parts = append(parts, to)
			}
			to++
		}
		from = to
		if len(parts) == 0 {
			continue
		}
		slices.SortFunc(parts, func(a, b int) int {
			if x, y := all[a], all[b]; x.text != y.text {
				return x.text - y.text
			} else {
				return x.start - y.start
			}
		})
		for n := len(parts) - 1; n >= 0; n-- { // what it announces is left out
			r := all[parts[n]]
			body := in.x.Texts[r.text].Body
			told := n+1 < len(parts) && all[parts[n+1]].text == r.text && strings.TrimSpace(body[r.end:all[parts[n+1]].start]) == ""
			if part := strings.TrimSpace(body[r.start:r.end]); !told && (announces(part) || isHeading.MatchString(part)) && len(r.words) < tellsItself {
				parts = slices.Delete(parts, n, n+1)
			}
		}
		if len(parts) == 0 {
			continue
		}
		var line strings.Builder
		over := titleOf{text: -1}
		for k, p := range parts {
			r := all[p]
			body := in.x.Texts[r.text].Body
			if k > 0 {
				before := all[parts[k-1]]
				between := "…"
				if before.text == r.text {
					whole := body[before.start:r.end] // as it stands, white space between its parts with it
					from := len(strings.TrimSpace(body[before.start:before.end]))
					between = strings.TrimSuffix(strings.TrimSpace(whole), strings.TrimSpace(body[r.start:r.end]))[from:]
				}
				switch {
				case strings.TrimSpace(between) != "":
					line.WriteString("\n… ") // something is left out
				case strings.Contains(between, "\n"):
					line.WriteByte('\n')
				case between != "":
					line.WriteByte(' ')
				}
			}
			isTold := func(q int) bool {
				return all[q].text == r.text && all[q].start <= r.title.start && r.title.start < all[q].end
			}
			if at := (titleOf{r.text, r.title}); r.title.end > 0 && at != over && !slices.ContainsFunc(parts[:k], isTold) {
				over = at
				if title := r.title.of(body); said[title] { // as over other entries, in the same words
					line.WriteString("(" + strings.Trim(title, "#*:： ") + ") ")
				} else {
					said[title] = true
					line.WriteString(title + "\n")
				}
			}
			line.WriteString(strings.TrimSpace(body[r.start:r.end]))
		}
		words := plain.Text(line.String())
		answer := in.answerTo(at, words)
		if last := all[parts[len(parts)-1]]; answer != "" { // to the question at the end, which may not be told
			if q := lastQuestion(in.x.Texts[last.text].Body[last.end:]); q != "" {
				words += "\n… " + q
			}
		}
		out = append(out, "- "+in.handle(at)+": "+indented(in.settled(at, in.refuted(at, words))+answer))
	}
	return out
}

// lastQuestion returns the last sentence of a text that asks something; "" when none does.
func lastQuestion(text string) string {
	const most = 300 // bytes
	for _, s := range slices.Backward(lastSentences(text, most)) {
		if isQuestion.MatchString(s) {
			return plain.Text(s)
		}
	}
	return ""
}

// proposes says that something is asked, or put to the user to decide.
var proposes = lazyregexp.New(`(?i)[?？]\s*$|\b(?:options?|approach(?:es)?|should (?:we|i)|shall (?:we|i)|would you|do you want|want me to|prefer|i(?:'d| would) (?:suggest|recommend|propose|lean)|recommend(?:ed|ation)?|suggest(?:ion)?s?|propos\w+|instinct|could be|alternativ\w+)\b`)

// answerTo marks what an agent has put to the user at the end of a turn with what the user said to it, by its beginning; "" where
// nothing was put to anybody, or nobody has answered.
func (in *input) answerTo(message int, said string) string {
	const most = 60 // bytes of the answer
	if message+1 >= len(in.messages) || in.messages[message+1].Role != precis.RoleUser || !proposes.MatchString(said) {
		return ""
	}
	for _, r := range in.record().said {
		ends := func(rule retain.Rule) bool { return rule.Handle.From == r.at }
		if r.at != message+1 || r.refused != "" || slices.ContainsFunc(in.endedRules(), ends) {
			continue // what no longer holds stands nowhere without its mark
		}
		first, _, _ := strings.Cut(strings.TrimSpace(r.text), "\n")
		return " [the user, " + in.handle(r.at) + ": " + preview.Line(strings.NewReplacer("[", "(", "]", ")").Replace(plain.Text(first)), most) + "]"
	}
	return ""
}
