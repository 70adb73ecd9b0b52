package condense

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/model"
)

// written returns a summary by a template, headings by format, leaving out some.
func written(p Prompt, format string, without ...int) string {
	var b strings.Builder
	for i, name := range p.Sections() {
		skip := false
		for _, n := range without {
			skip = skip || n == i+1
		}
		if !skip {
			fmt.Fprintf(&b, format+"\nWhat was said on point %c (m%d).\n\n", i+1, name, 'a'+i, i)
		}
	}
	return strings.TrimSpace(b.String())
}

const byNumber = "%d. %s"

var (
	nine  = Prompt{}
	six   = Prompt{Template: "six"}
	brief = Prompt{Template: "brief"}
	own   = Prompt{Custom: "Summarize."}
)

func TestValidateTakesTheSummaryOut(t *testing.T) {
	s := written(nine, byNumber)
	for name, answer := range map[string]string{
		"bare":                       s,
		"space":                      "\n\n " + s + " \n",
		"asked for":                  "<analysis>\nstep by step\n</analysis>\n\n<summary>\n" + s + "\n</summary>",
		"in one line":                "<analysis>x</analysis><summary>" + s + "</summary>",
		"upper case":                 "<ANALYSIS>x</ANALYSIS>\n<Summary>\n" + s + "\n</SUMMARY>",
		"not closed":                 "<analysis>x</analysis>\n<summary>\n" + s,
		"only closed":                s + "\n</summary>",
		"analysis not closed":        "<analysis>\nstep by step\n<summary>\n" + s + "\n</summary>",
		"nested":                     "<analysis>a<analysis>b</analysis>c</analysis>\n" + s,
		"nested on lines":            "<analysis>\na\n<analysis>\nb\n</analysis>\nc\n</analysis>\n" + s,
		"several":                    "<thinking>a</thinking>\n<analysis>b</analysis>\n<scratchpad>c</scratchpad>\n<think>d</think>\n" + s,
		"thoughts in the summary":    "<summary>\n<analysis>\na\n</analysis>\n" + s + "\n</summary>",
		"closed by another":          "<thinking>a</think>\n" + s,
		"opened before the answer":   "hmm, well\n</think>\n\n" + s,
		"the summary in thoughts":    "<analysis>\nnotes\n<summary>\n" + s + "\n</summary>\n</analysis>",
		"a draft in thoughts":        "<analysis>\n<summary>\ndraft\n</summary>\n</analysis>\n<summary>\n" + s + "\n</summary>",
		"thoughts speak of tags":     "<analysis>\nI close with </analysis> later, then `<summary>` comes.\n</analysis>\n<summary>\n" + s + "\n</summary>",
		"words around":               "Sure, here it is:\n<summary>\n" + s + "\n</summary>\nShall I go on?",
		"fenced":                     "```\n" + s + "\n```",
		"fenced as markdown":         "```markdown\n" + s + "\n```",
		"fenced with tildes":         "~~~md\n" + s + "\n~~~",
		"fence not closed":           "```markdown\n" + s,
		"fences in a fence":          "```markdown\n" + s + "\n```go\nx()\n```\n```",
		"fenced tags":                "```xml\n<analysis>x</analysis>\n<summary>\n" + s + "\n</summary>\n```",
		"a fence in the summary tag": "<summary>\n```\n" + s + "\n```\n</summary>",
		"a draft, then it":           "<summary>\ndraft\n</summary>\n<summary>\n" + s + "\n</summary>",
		"it, then a remark":          "<summary>\n" + s + "\n</summary>\n<summary>\nthat was it\n</summary>",
		"many words, then thoughts":  strings.Repeat("I begin with what comes first, then the rest. ", 3) + s + "\n<analysis>\nx\n<summary>\n" + s + "\n</summary>",
		"a quoted tag in thoughts":   "<analysis>I end with `</analysis>` here</analysis>\n" + s,
		"windows":                    "<analysis>\r\nx\r\n</analysis>\r\n<summary>\r\n" + s + "\r\n</summary>\r\n",
		"with a language":            "<summary lang=\"en\">\n" + s + "\n</summary>",
	} {
		text, flaw, why := checkAnswer(model.Response{Text: answer}, nine, answerLimits{})
		if text = strings.TrimSuffix(text, "\n```go\nx()\n```"); flaw != "" || text != s {
			t.Errorf("%s: %s %s\n%s", name, flaw, why, text)
		}
	}
}

// What a summary says of tags and code is no wrapping.
func TestValidateLeavesContentAlone(t *testing.T) {
	for _, in := range []string{
		"The parser strips <analysis> tags and what is in <think>…</think>.",
		"`<summary>` is opened and </summary> closes it, he said.",
		"The code:\n```go\nx := y\n```\nand\n```go\nz()\n```",
		"It reads <details><summary>Title</summary>text</details> and goes on.",
		"It said\n<function_calls>\nand stopped.",
		"It writes </think>\nand goes on.",
		"The model called:\n```xml\n<read_file>\n<path>a.go</path>\n</read_file>\n```",
	} {
		s := written(six, byNumber) + "\n" + in
		for _, answer := range []string{s, "<summary>\n" + s + "\n</summary>"} {
			text, flaw, why := checkAnswer(model.Response{Text: answer}, six, answerLimits{})
			if flaw != "" || text != s {
				t.Errorf("%q: %s %s\n%s", in, flaw, why, text)
			}
		}
	}
	s := written(six, byNumber) + "\nIt reads up to </summary>\nor\n</think>\nand stops."
	if text, _, _ := checkAnswer(model.Response{Text: "<summary>\n" + s + "\n</summary>\nBye."}, six, answerLimits{}); text != s {
		t.Errorf("%q", text)
	}
	code := "```go\nx := y\n```\nis the fix; the rest is\n```go\nz()\n```"
	if text, flaw, _ := checkAnswer(model.Response{Text: code}, own, answerLimits{}); flaw != "" || text != code {
		t.Errorf("%s %q", flaw, text)
	}
}

func TestValidateFlaws(t *testing.T) {
	s := written(nine, byNumber)
	loop := strings.Repeat("The build fails and is run again. ", 60)
	for _, tt := range []struct {
		name string
		resp model.Response
		p    Prompt
		want Flaw
	}{
		{"nothing", model.Response{}, nine, FlawEmpty},
		{"white space", model.Response{Text: " \n"}, own, FlawEmpty},
		{"the API says so", model.Response{Text: s, Refused: true}, nine, FlawRefused},
		{"a tool", model.Response{ToolCalls: 1}, nine, FlawToolCall},
		{"thoughts and a tool", model.Response{ToolCalls: 1, Reasoned: true}, nine, FlawToolCall},
		{"a tool after a summary", model.Response{Text: s, ToolCalls: 2}, nine, ""},
		{"a tool after most of one", model.Response{Text: written(nine, byNumber, 9), ToolCalls: 1}, nine, FlawToolCall},
		{"a tool after words", model.Response{Text: "Let me look at the file first.", ToolCalls: 1}, own, FlawToolCall},
		{"thoughts", model.Response{Reasoned: true}, nine, FlawReasoningOnly},
		{"thoughts aloud", model.Response{Text: "<analysis>all of it</analysis>"}, nine, FlawReasoningOnly},
		{"endless thoughts", model.Response{Text: "<think>all of it", Truncated: true}, own, FlawReasoningOnly},
		{"only tags", model.Response{Text: "<summary></summary>"}, nine, FlawReasoningOnly},
		{"JSON", model.Response{Text: `{"summary": "all"}`}, nine, FlawMarkup},
		{"a list in JSON", model.Response{Text: `[1, 2]`}, own, FlawMarkup},
		{"fenced JSON", model.Response{Text: "```json\n{\"a\": 1}\n```"}, own, FlawMarkup},
		{"cut JSON", model.Response{Text: `[{"a": `, Truncated: true}, own, FlawMarkup},
		{"HTML", model.Response{Text: "<!DOCTYPE html><html>" + s}, nine, FlawMarkup},
		{"HTML parts", model.Response{Text: "<div>\n" + s + "</div>"}, nine, FlawMarkup},
		{"a call as XML", model.Response{Text: "<read_file>\n<path>a.go</path>\n</read_file>"}, nine, FlawMarkup},
		{"a call after words", model.Response{Text: "I look first.\n<execute_command>\n<command>ls</command>\n</execute_command>"}, own, FlawMarkup},
		{"function calls", model.Response{Text: "Well.\n\n<function_calls>\n<invoke name=\"x\">"}, own, FlawMarkup},
		{"tool_use", model.Response{Text: "<tool_use>x</tool_use>"}, own, FlawMarkup},
		{"a call as we write it", model.Response{Text: "[Tool Use: read_file]\npath: a.go"}, own, FlawMarkup},
		{"a call by tokens", model.Response{Text: "<｜tool▁calls▁begin｜>x"}, own, FlawMarkup},
		{"an edit quoted in code", model.Response{Text: "It said:\n```\n<invoke name=\"x\">\n```\nand stopped."}, own, ""},
		{"brackets", model.Response{Text: "[m3] The user wants a parser."}, own, ""},
		{"prose", model.Response{Text: "The user wants a parser, and I went on with it."}, nine, FlawSections},
		{"a plan", model.Response{Text: "1. Read main.go\n2. Fix it\n3. Test\n4. Commit\n5. Push\n6. Rest\n7. Sleep\n8. Wake\n9. Eat"}, nine, FlawSections},
		{"cut short", model.Response{Text: written(nine, byNumber, 8, 9), Truncated: true}, nine, FlawTruncated},
		{"cut, own prompt", model.Response{Text: "The user wants", Truncated: true}, own, FlawTruncated},
		{"cut after the tag", model.Response{Text: "<summary>The user wants it.</summary>", Truncated: true}, own, ""},
		{"a loop", model.Response{Text: loop}, own, FlawRepeats},
		{"a loop at the end", model.Response{Text: s + "\n" + loop, Truncated: true}, nine, FlawRepeats},
		{"a loop of a word", model.Response{Text: strings.Repeat("the ", 100)}, own, FlawRepeats},
		{"a loop in Chinese", model.Response{Text: strings.Repeat("构建失败。", 40)}, own, FlawRepeats},
		{"a loop of paragraphs", model.Response{Text: strings.Repeat(written(nine, byNumber)+"\n", 6)}, nine, FlawRepeats},
	} {
		text, flaw, why := checkAnswer(tt.resp, tt.p, answerLimits{})
		if flaw != tt.want || (flaw == "") != (text != "") || (flaw == "") != (why == "") {
			t.Errorf("%s: flaw %q, want %q; %q; %q", tt.name, flaw, tt.want, why, text)
		}
	}
}

func TestValidateRefusals(t *testing.T) {
	for _, text := range []string{
		"I can't help with that.", "I can’t summarize this conversation.", "I'm sorry, but I won't do that.", "Sorry, no.", "I cannot assist with this request.",
		"As an AI, I don't do this.", "I'm unable to comply.", "Je ne peux pas vous aider.", "Désolé, c'est impossible.", "申し訳ありませんが、できません。", "抱歉，我无法协助。", "我无法总结。",
		"Ich kann nicht helfen.", "Ich kann dir leider nicht helfen.", "Es tut mir leid.", "Lo siento, no puedo.", "Mi dispiace, non posso.", "Não posso ajudar.", "К сожалению, я не могу.", "죄송합니다.",
	} {
		for _, p := range []Prompt{nine, own} {
			if _, flaw, _ := checkAnswer(model.Response{Text: "<summary>" + text + "</summary>"}, p, answerLimits{}); flaw != FlawRefused {
				t.Errorf("%q: %q", text, flaw)
			}
		}
		s := written(nine, byNumber)
		if _, flaw, _ := checkAnswer(model.Response{Text: text + "\n\n" + s}, nine, answerLimits{}); flaw != "" {
			t.Errorf("%q before a summary: %q", text, flaw)
		}
	}
	for _, text := range []string{"I cannily went on.", "The user said: I can't do it.", "Je suis en train de corriger main.go.", "Ich kann nun bauen: das Verzeichnis fehlte nicht mehr."} {
		if _, flaw, _ := checkAnswer(model.Response{Text: text}, own, answerLimits{}); flaw != "" {
			t.Errorf("%q: %q", text, flaw)
		}
	}
	long := "I can't say less. " + strings.Join(strings.Fields(Prompt{}.Instruction()), " ")
	if _, flaw, _ := checkAnswer(model.Response{Text: long}, own, answerLimits{}); flaw != "" {
		t.Errorf("a long text: %q", flaw)
	}
}

func TestValidateSections(t *testing.T) {
	for _, p := range []Prompt{nine, six, brief} {
		for _, format := range []string{
			byNumber, "%d. %s:", "%d) %s", "%d.%s:", "## %d. %s", "## %d %s", "**%d. %s**", "%d. **%s:** said inline", "### **%d. %s (all of them)**", "- **%d. %s**:", "%[1]d、%[2]s", "  %d. %s: inline",
			"## %[2]s", "%[2]s:", "**%[2]s**: inline", "%[2]s", "* **%[2]s** – inline", "%d. %s - the gist",
		} {
			text := written(p, format)
			missing := missingSections(text, p.template().sections)
			if missing != nil {
				t.Errorf("%s, %q: missing %q", p.Template, format, missing)
			}
			upper := missingSections(strings.ToUpper(text), p.template().sections)
			if upper != nil {
				t.Errorf("%s, %q in upper case: missing %q", p.Template, format, upper)
			}
		}
	}
	for _, format := range []string{"%d apples and %s:", "- %[2]s: inline", "And:\n      %d. %s", "He spoke of %[2]s", "%[2]s were there"} {
		if missing := missingSections(written(nine, format), nineSections); len(missing) != len(nineSections) {
			t.Errorf("%q: only %q are missing", format, missing)
		}
	}
	for _, format := range []string{"%d. Заголовок:%.0s", "%d. 見出し%.0s", "**%d. Überschrift**%.0s", "## %d Titel%.0s", "%d、请求与意图：%.0s"} {
		text := written(nine, format) + strings.Repeat("\nDer Nutzer bat um Hilfe beim Parser, und alle Tests sind jetzt grün.", 20)
		if missing := missingSections(text, nineSections); missing != nil {
			t.Errorf("%q: missing %q", format, missing)
		}
	}
	if got := missingSections("## Requests\n## Fileserver\n## Key technical concepts and more\n1.3 files: x\n4.5 s:", nineSections[:4]); !slices.Equal(got, []string{"Files and code", "Errors and fixes"}) {
		t.Errorf("missing %q", got)
	}
	if got := missingSections("一、请求：\nx\n٢. طلب:\ny\n３．コード\nz", nineSections[:3]); got != nil {
		t.Errorf("missing %q", got)
	}
}

// A reply is no summary because its list has as many items.
func TestValidateRepliesAreNoSummaries(t *testing.T) {
	tips := "Sure! Tips:\n\n1. **Fish**: buy it. \n2. **Lemon**: cut it.\n3. **Salt**: add it.\n4. **Pan**: heat it.\n5. **Oil**: pour it.\n6. **Fork**: use it.\n7. **Knife**: sharpen it.\n8. **Plate**: warm it.\n9. **Guests**: call them."
	for _, reply := range []string{
		tips, strings.ReplaceAll(tips, "**: ", ".**\nThis is the step that you have to take in the kitchen: "), strings.ReplaceAll(strings.ReplaceAll(tips, "**: ", "\nIt is of use to the cook in the kitchen: "), ". **", ". "),
		"{}", "Of course. I have read the conversation and I will go on with the next step as you asked.", "I apologize for the confusion in my earlier answer.", "I cannot help with that.",
	} {
		for _, p := range []Prompt{nine, six} {
			if text, flaw, _ := checkAnswer(model.Response{Text: reply}, p, answerLimits{}); flaw == "" {
				t.Errorf("%s: %q passes for a summary", p.Template, text)
			}
		}
	}
}

// Two thirds of the sections make a summary, less does not.
func TestValidateCountsSections(t *testing.T) {
	for _, tt := range []struct {
		p       Prompt
		without []int
		want    Flaw
	}{
		{nine, []int{2, 4, 5}, ""}, {nine, []int{2, 3, 4, 5}, FlawSections},
		{six, []int{1, 5}, ""}, {six, []int{1, 3, 5}, FlawSections},
		{brief, []int{3, 4}, ""}, {brief, []int{1, 3, 4}, FlawSections},
	} {
		_, flaw, why := checkAnswer(model.Response{Text: written(tt.p, "## %d. %s", tt.without...)}, tt.p, answerLimits{})
		if flaw != tt.want {
			t.Errorf("%q without %v: %q", tt.p.Template, tt.without, flaw)
		}
		for i, name := range tt.p.Sections() {
			named := strings.Contains(why, name)
			for _, n := range tt.without {
				if n == i+1 && flaw != "" && !named {
					t.Errorf("%q does not name %s", why, name)
				}
			}
		}
	}
}

func TestValidateSizes(t *testing.T) {
	s := written(nine, byNumber)
	words := func(s string) int { return len(strings.Fields(s)) }
	n := words(s)
	for _, tt := range []struct {
		limits answerLimits
		want   Flaw
	}{
		{answerLimits{Count: words, MaxTokens: n}, ""}, {answerLimits{Count: words, MaxTokens: n - 1}, FlawTooLarge},
		{answerLimits{Count: words, Replaces: (n*10 + 7) / 8}, ""}, {answerLimits{Count: words, Replaces: n*10/8 - 1}, FlawNoProgress},
		{answerLimits{MaxTokens: digest.EstimateTokens(s)}, ""}, {answerLimits{MaxTokens: digest.EstimateTokens(s) - 1}, FlawTooLarge},
	} {
		// What was thought does not count.
		resp := model.Response{Text: "<analysis>" + strings.Repeat("many thoughts ", 900) + "</analysis>\n" + s}
		if _, flaw, why := checkAnswer(resp, nine, tt.limits); flaw != tt.want {
			t.Errorf("%+v: %q %s", tt.limits, flaw, why)
		}
	}
}

func TestValidateMarksWhereAnAnswerWasCut(t *testing.T) {
	for _, heading := range []string{"9. Next step", "## Next step", "9. **Next step:**", "**9. Weiter**", "9. Weiter:"} {
		cut := written(nine, byNumber, 9) + "\n\n" + heading
		if _, flaw, _ := checkAnswer(model.Response{Text: cut, Truncated: true}, nine, answerLimits{}); flaw != FlawTruncated {
			t.Errorf("cut behind %q: %q", heading, flaw)
		}
	}
	s := written(nine, byNumber) + " And the"
	text, flaw, _ := checkAnswer(model.Response{Text: "<summary>" + s, Truncated: true}, nine, answerLimits{})
	if flaw != "" || text != s+" …" {
		t.Errorf("%q %q", flaw, text)
	}
	text, _, _ = checkAnswer(model.Response{Text: "<summary>" + s + "</summary>\nMore", Truncated: true}, nine, answerLimits{})
	if text != s {
		t.Errorf("%q", text)
	}
}

// A reason for a retry quotes nothing of the answer.
func TestValidateReasonsQuoteNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := "zqx" + rapid.StringMatching(`[a-z]{6}`).Draw(t, "secret")
		form := rapid.SampledFrom([]string{"%s", "{\"%s\": 1}", "<%s_x>", "I can't %s", "1. %s:", "<analysis>%s", "<html>%s"}).Draw(t, "form")
		resp := model.Response{
			Text: strings.Repeat(fmt.Sprintf(form, secret)+"\n", rapid.SampledFrom([]int{1, 3, 80}).Draw(t, "times")), ToolCalls: rapid.IntRange(0, 1).Draw(t, "calls"),
			Truncated: rapid.Bool().Draw(t, "cut"), Refused: rapid.Bool().Draw(t, "refused"), Reasoned: rapid.Bool().Draw(t, "reasoned"),
		}
		_, flaw, why := checkAnswer(resp, nine, answerLimits{MaxTokens: 1})
		if flaw == "" || strings.Contains(why, "zqx") {
			t.Fatalf("%q: %q", flaw, why)
		}
		if p := (Prompt{Wrong: why}); !strings.Contains(p.Instruction(), why) || !strings.HasSuffix(why, ".") {
			t.Fatalf("%q is not fit to be said", why)
		}
	})
}

// Whatever is wrapped around a summary, the same summary comes out.
func TestValidateWrappingsCompose(t *testing.T) {
	s := written(six, "## %d. %s")
	rapid.Check(t, func(t *rapid.T) {
		text := s
		if rapid.Bool().Draw(t, "fence inside") {
			text = "```markdown\n" + text + "\n```"
		}
		if rapid.Bool().Draw(t, "tag") {
			text = "<summary>\n" + text + rapid.SampledFrom([]string{"\n</summary>", "</summary>\n", ""}).Draw(t, "end")
		}
		for range rapid.IntRange(0, 4).Draw(t, "thoughts") {
			tag := rapid.SampledFrom([]string{"analysis", "think", "thinking", "scratchpad"}).Draw(t, "kind")
			thought := rapid.SampledFrom([]string{"", "well", "1. one\n2. two", "a `<summary>` comes", "\n<think>\ndeep\n</think>\n"}).Draw(t, "thought")
			text = "<" + tag + ">" + thought + "</" + tag + ">\n" + text
		}
		if got, flaw, why := checkAnswer(model.Response{Text: text}, six, answerLimits{}); flaw != "" || got != s {
			t.Fatalf("%s: %s %s\n%s", text, flaw, why, got)
		}
	})
}

func FuzzValidateAnswer(f *testing.F) {
	for _, s := range []string{
		"", written(nine, byNumber), "<analysis>x</analysis><summary>" + written(six, "## %d. %s") + "</summary>", "</summary></think><think>", "```\n```json\n{}\n```", "<summary><summary></summary>",
		"[Tool Use: x]", "{", "1.", "**", "一、", strings.Repeat("a b ", 200), "I can't", "\xff<think>\xff",
	} {
		f.Add(s, byte(0), 100)
	}
	f.Fuzz(func(t *testing.T, answer string, bits byte, size int) {
		resp := model.Response{Text: answer, Reasoned: bits&1 > 0, Refused: bits&2 > 0, Truncated: bits&4 > 0, ToolCalls: int(bits >> 3 & 1)}
		p := []Prompt{nine, six, brief, own}[bits>>4&3]
		limits := answerLimits{MaxTokens: size % 1000, Replaces: size % 777}
		text, flaw, why := checkAnswer(resp, p, limits)
		switch {
		case (flaw == "") != (why == "") || (flaw == "") != (text != ""):
			t.Fatalf("%q %q %q", text, flaw, why)
		case flaw != "":
			return
		case resp.Refused || text != strings.TrimSpace(text):
			t.Fatalf("accepted: %q", text)
		case limits.MaxTokens > 0 && digest.EstimateTokens(text) > limits.MaxTokens || limits.Replaces > 0 && digest.EstimateTokens(text)*5 > limits.Replaces*4:
			t.Fatalf("too large: %q", text)
		case utf8.ValidString(answer) && !utf8.ValidString(text):
			t.Fatalf("broken: %q", text)
		}
		if sections := p.Sections(); len(missingSections(text, p.template().sections)) > len(sections)-len(sections)*2/3 {
			t.Fatalf("sections are missing: %q", text)
		}
	})
}
