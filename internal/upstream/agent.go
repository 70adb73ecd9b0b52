package upstream

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// place is the progress of a conversation.
type place struct {
	run  string // "": the request names none
	step int    // number of files requested
}

var (
	callMark    = regexp.MustCompile(`^(r\d+)_(\d+)\b`) // after one of callHeads
	summaryMark = regexp.MustCompile(`Carry on behind file number (\d+) \((?:run (r\d+)|no run)\)`)
)

// placeOf returns the progress of the conversation in a request: the last call ID names its run,
// and the highest number in that run is its step. Without call IDs, one of our summaries contains
// both.
func placeOf(body []byte) (at place) {
	calls, summaries := callsIn(body), summaryMark.FindAllSubmatch(body, -1)
	if n := len(calls); n > 0 {
		at.run = string(calls[n-1][1])
	} else if n := len(summaries); n > 0 {
		at.run = string(summaries[n-1][2])
	}
	for _, m := range calls {
		if string(m[1]) == at.run {
			at.step = max(at.step, number(m[2]))
		}
	}
	for _, m := range summaries {
		if string(m[2]) == at.run || len(calls) == 0 {
			at.step = max(at.step, number(m[1]))
		}
	}
	return at
}

// callHeads begin the IDs of calls.
var callHeads = [][]byte{[]byte("toolu_"), []byte("call_")}

// callsIn returns the run and the step of each of our call IDs in a body, in order. The pattern is
// tried only where an ID begins, because bodies are long.
func callsIn(body []byte) (out [][][]byte) {
	for at := 0; ; {
		head, begin := []byte(nil), len(body)
		for _, h := range callHeads {
			if i := bytes.Index(body[at:begin], h); i >= 0 {
				head, begin = h, at+i
			}
		}
		if head == nil {
			return out
		}
		at = begin + len(head)
		if m := callMark.FindSubmatch(body[at:]); m != nil && !withinWord(body[:begin]) {
			out = append(out, m)
		}
	}
}

// withinWord reports whether the preceding bytes end within a word. Two underlines end a word.
func withinWord(before []byte) bool {
	if len(before) == 0 || bytes.HasSuffix(before, []byte("__")) {
		return false
	}
	c := before[len(before)-1]
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// digestMark begins a digest, which words the progress differently than our summaries.
var digestMark = []byte("[Digest of messages")

func number(digits []byte) int {
	n, _ := strconv.Atoi(string(digits)) // only digits; a number out of range is no step
	return n
}

// call is a tool call.
type call struct {
	id   string
	tool tool
	args object
	free string // the input, for a tool that takes text
}

// Done is the agent's text after it has read all files.
const Done = "All files were read. DONE."

// answer is the model's response.
type answer struct {
	*prompt
	id        string // unique, for IDs of messages and items
	thinking  string // "": none
	signature string
	sealed    string // the requested compaction item
	text      string
	calls     []call
	usage     usage
	dropped   []string
	controls  bool // report dropped blocks
	compacts  bool // requested by the path of compactions
	made      []object
}

type usage struct{ input, read, written, output int }

// continueWork continues the agent's work.
func (s *Server) continueWork(a *answer, at place, reader tool) {
	files := s.options.Files
	if at.step >= len(files) {
		a.text = Done
		return
	}
	if n := s.options.Pause; n > 0 && at.step > 0 && at.step%n == 0 && a.lastUserText == "" {
		a.text = fmt.Sprintf("%d files were read so far.", at.step)
		return
	}
	if s.callOtherTool(a, at, "again", s.options.Recall, "Looking something up",
		func(tool) object { return object{"handle": "m1"} }) ||
		at.run == "r1" && at.step == 1 && s.callOtherTool(a, at, "other", s.options.Delegate,
			"Asking another agent", func(t tool) object { return t.arguments("") }) {
		return
	}
	from, to := at.step, at.step+1
	if to == s.options.ParallelAt && to < len(files) {
		to++
	}
	a.text = fmt.Sprintf("Reading file number %d.", from+1)
	for i := from; i < to; i++ {
		a.calls = append(a.calls, reader.read(fmt.Sprintf("%s_%s_%d", a.callID, at.run, i+1), files[i]))
	}
}

// callOtherTool makes the model call a tool that reads no file, once before each file but the first. The
// IDs of these calls do not count for the progress.
func (s *Server) callOtherTool(a *answer, at place, mark, name, doing string, args func(tool) object) bool {
	id := fmt.Sprintf("%s_%s_%s_%d", a.callID, mark, at.run, at.step+1)
	i := slices.IndexFunc(a.tools, func(t tool) bool { return t.name == name })
	if i < 0 || at.step == 0 || bytes.Contains(encode(a.body[a.messages]), []byte(id)) {
		return false
	}
	a.text = fmt.Sprintf("%s before file number %d. ", doing, at.step+1)
	a.calls = append(a.calls, call{id: id, tool: a.tools[i], args: args(a.tools[i])})
	return true
}

var (
	asksSummary = regexp.MustCompile(`(?i)\b(?:write|create|provide|produce|generate|give|make)\b[^.\n]{0,80}\bsummar(?:y|ies)\b|\bsummari[sz]e (?:the|this|our|all|everything)\b|context checkpoint|\bhandoff\b|state_snapshot|\bcompact(?:ing|ion of)? (?:the|this) conversation`)
	asksTitle   = regexp.MustCompile(`(?i)\btitle\b`)
)

// kind returns the purpose of a request. The first request of an agent may mention summaries
// without requesting one.
func (p *prompt) kind(at place, reads bool) Kind {
	input := list(p.body[p.messages])
	if n := len(input); p.name == "responses" && n > 0 && str(input[n-1], "type") == "compaction_trigger" {
		return Compact
	}
	asks := asksSummary.MatchString(p.lastUserText) && !summaryMark.MatchString(p.lastUserText)
	switch {
	case reads && !(asks && at.step > 0):
		return Main
	case asks || !asksTitle.MatchString(p.lastUserText) && asksSummary.Match(encode(p.body)):
		return Summary
	}
	return Side
}

// sideAnswer answers a request that neither continues the work nor requests a summary.
func (p *prompt) sideAnswer() string {
	if strings.Contains(string(encode([]any{p.body["output_config"], p.body["response_format"],
		p.body["text"]})), "json_schema") {
		return `{"title":"Reading the files","isNewTopic":true}`
	}
	return "Reading the files"
}

// lastFileNumber returns the number, from 1, of the last of the files that a text names; 0: none.
func lastFileNumber(body []byte, files []string) int {
	for i := len(files); i > 0; i-- {
		if strings.Contains(string(body), filepath.Base(files[i-1])) {
			return i
		}
	}
	return 0
}
