// Package requests reads what persons asked for in a conversation and quotes it word for word within a
// budget.
//
// [Of] finds the requests and what each answers; [Writer.Lines] quotes as much of them as fits. The
// newest request comes first; of older ones it keeps the sentences with the most that is not quoted
// yet.
package requests

import (
	"fmt"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/internal/visible"
	"github.com/precis-dev/precis/retain"
)

// Request is what a person said in one message or in the result of one call.
type Request struct {
	At       int // message
	Text     string
	Question string // the end of the question that it answers, if needed to understand it
	Refused  string // the tool of the call that it refuses; "": none
	Answer   bool   // given during a turn, in the result of a call
	inResult bool   // said in the result of a call
	old      bool   // not among the newest, see [Fresh]
	times    int    // how often it was said; 0: once
	first    int    // if repeated: the message of the first occurrence
}

// Of returns what persons said, oldest first.
func Of(msgs []precis.Message) []Request {
	var out []Request
	question := ""
	speech := precis.SpeechOf(msgs)
	for i, m := range msgs {
		if m.Role == precis.RoleAssistant {
			if text := asked(m); text != "" {
				question = text
			}
			continue
		}
		for _, a := range speech.Answers(i) {
			s := Request{At: i, Text: visible.WithoutSequences(a.Text), Answer: !a.Turn, inResult: true}
			if a.Asked {
				s.Question = questionOf(a.Text, question)
			} else if a.Denied {
				s.Refused = a.Tool
			}
			out = append(out, s)
		}
		text := visible.WithoutSequences(speech.Words(i))
		if shown := AttachedTo(m, speech.Authors(i)); shown != "" {
			text = strings.TrimSpace(text + "\n" + shown)
		}
		if text != "" {
			s := Request{At: i, Text: text}
			s.Question = questionOf(text, question)
			out = append(out, s)
		}
	}
	return out
}

// AttachedTo names the images and documents that a person attached to a message; "" for none.
// Attachments in a message that only a program wrote are the program's.
func AttachedTo(m precis.Message, authors []precis.Author) string {
	persons, programs := false, false
	pictures, out := 0, []string{}
	for b, block := range m.Content {
		if authors[b] != precis.AuthorPerson {
			programs = true
			continue
		}
		switch block := block.(type) {
		case precis.Text:
			persons = true
		case precis.Image:
			pictures++
		case precis.Document:
			out = append(out, strings.TrimSpace("[a document "+preview.Line(block.Title, 80))+"]")
		}
	}
	switch {
	case programs && !persons:
		return ""
	case pictures == 1:
		out = append(out, "[a picture]")
	case pictures > 1:
		out = append(out, fmt.Sprintf("[%d pictures]", pictures))
	}
	return strings.Join(out, " ")
}

// asked returns the text that a message of the assistant addresses to the user, including the
// arguments of a tool that asks the user.
func asked(m precis.Message) string {
	text := toolcall.WithoutCalls(m.PlainText())
	for _, b := range m.Content {
		u, ok := b.(precis.ToolUse)
		if !ok || !harness.IsTool(u.Name, "answers", "asks") {
			continue
		}
		for _, s := range jsonspan.Strings(u.Input) {
			if s = strings.TrimSpace(s); len(s) > 20 {
				text = s
				break
			}
		}
	}
	return text
}

// questionOf returns the end of the assistant's last words if a reply is too short to be understood
// without it.
func questionOf(reply, said string) string {
	const few, short, least, most = 5, 60, 40, 400 // words; bytes of a reply, and of the assistant's words
	if len(reply) > short || len(strings.Fields(reply)) > few || len(said) < least ||
		strings.HasSuffix(reply, "?") {
		return ""
	}
	return retain.LastPart(said, most)
}

// NewestTurn returns the index of the newest request that begins a turn; later ones are answers given
// during the turn. It is 0 for none.
func NewestTurn(all []Request) int {
	for i := len(all) - 1; i > 0; i-- {
		if !all[i].Answer {
			return i
		}
	}
	return 0
}

// Merged merges repeated requests into the newest, with the number of repetitions and the first
// message. Answers are never merged, since each answers a different question.
func Merged(all []Request) (out []Request) {
	newest := map[string]int{}
	for i := len(all) - 1; i >= 0; i-- {
		s := all[i]
		if s.Question == "" && s.Refused == "" {
			key := strings.ToLower(retain.Folded(s.Text))
			if at, ok := newest[key]; ok {
				out[at].times++
				out[at].first = s.At
				continue
			}
			newest[key] = len(out)
			s.times, s.first = 1, s.At
		}
		out = append(out, s)
	}
	slices.Reverse(out)
	return out
}
