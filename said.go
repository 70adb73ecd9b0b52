package precis

import "encoding/json"

// Author is who wrote a text. Role and author differ: programs use the user's role, tool results
// travel in it, and some wires have no other role for summaries.
type Author string

// The authors.
const (
	AuthorUnknown  Author = ""         // not stated: role and words decide
	AuthorPerson   Author = "person"   // a person typed, dictated or answered it
	AuthorOperator Author = "operator" // whoever runs the program: its prompt, the rules of a project
	AuthorModel    Author = "model"    // the model of this conversation
	AuthorDelegate Author = "delegate" // another agent: a sub-agent, a teammate
	AuthorProgram  Author = "program"  // the program around the model
	AuthorTool     Author = "tool"     // output of a tool
	AuthorRecap    Author = "recap"    // a summary of earlier messages, whoever wrote it
)

// Act is the purpose of a text.
type Act string

// The acts.
const (
	ActUnknown     Act = ""            // not stated
	ActRequest     Act = "request"     // asks for work
	ActAnswer      Act = "answer"      // answers a question
	ActRefusal     Act = "refusal"     // refuses a call
	ActCommand     Act = "command"     // to the program: /clear
	ActShell       Act = "shell"       // a person's own command and its output: !ls
	ActInstruction Act = "instruction" // rules, skills, lists: in force until replaced
	ActReminder    Act = "reminder"    // of earlier text
	ActEnvironment Act = "environment" // date, folder, state of the editor
	ActNotice      Act = "notice"      // an event: a job ended, a file changed
	ActResult      Act = "result"      // of a tool or of another agent's work
	ActQuote       Act = "quote"       // mentioned or pasted: a file, a log
	ActSummary     Act = "summary"     // of earlier messages
)

// Attribution is metadata that the reader of a message takes from fields of the recording or the wire, not
// from the text. It is excluded from a message's fingerprint. The zero value means unknown.
type Attribution struct {
	Program string `json:"program,omitempty"` // the program that recorded or sent it, such as "claude-code"
	Author  Author `json:"author,omitempty"`
	Act     Act    `json:"act,omitempty"`
}

// AttributionOf returns the metadata of block b: the block's own, else the message's.
func (m Message) AttributionOf(b int) Attribution {
	s := m.Attribution
	if t, ok := m.Content[b].(Text); ok {
		if t.Attribution.Author != AuthorUnknown {
			s.Author, s.Act = t.Attribution.Author, t.Attribution.Act
		}
		if t.Attribution.Program != "" {
			s.Program = t.Attribution.Program
		}
	}
	return s
}

// Field is an unread member of a JSON object, byte for byte. Messages, calls and results keep such
// members, and encoders of the same dialect write them back when the raw bytes no longer apply
// because content was shortened or repaired.
type Field struct {
	Name string
	Raw  json.RawMessage
}

// fieldJSON is the stored form of a [Field].
type fieldJSON struct {
	Name string     `json:"name"`
	Raw  exactBytes `json:"raw"`
}

func toFields(list []Field) []fieldJSON {
	var out []fieldJSON
	for _, f := range list {
		out = append(out, fieldJSON{f.Name, exactBytes(f.Raw)})
	}
	return out
}

func fromFields(list []fieldJSON) []Field {
	var out []Field
	for _, f := range list {
		out = append(out, Field{f.Name, json.RawMessage(f.Raw)})
	}
	return out
}

// inherit returns the replacement of a block with the metadata and unknown members of the original
// that the edit does not set.
func inherit(was, now Block) Block {
	switch now := now.(type) {
	case Text:
		if was, ok := was.(Text); ok && now.Attribution == (Attribution{}) {
			now.Attribution = was.Attribution
			return now
		}
	case ToolUse:
		if was, ok := was.(ToolUse); ok && now.Fields == nil {
			now.Fields = was.Fields
			return now
		}
	case ToolResult:
		if was, ok := was.(ToolResult); ok && now.Fields == nil {
			now.Fields, now.Refused = was.Fields, was.Refused
			return now
		}
	}
	return now
}
