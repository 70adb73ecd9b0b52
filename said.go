package precis

import "encoding/json"

// Author says who wrote something. Role and author differ: programs speak in the user's
// role, results of tools travel in it, and some wires have no other role for summaries.
type Author string

// The authors.
const (
	AuthorUnknown  Author = ""         // nobody says: role and words decide
	AuthorPerson   Author = "person"   // somebody typed, dictated or answered it
	AuthorOperator Author = "operator" // whoever runs the program: its prompt, the rules of a project
	AuthorModel    Author = "model"    // the model of this conversation
	AuthorDelegate Author = "delegate" // another agent: a sub-agent, a teammate
	AuthorProgram  Author = "program"  // the program around the model
	AuthorTool     Author = "tool"     // what a tool gave back
	AuthorRecap    Author = "recap"    // a summary of what came before, whoever wrote it
)

// Act says what something that was said is for.
type Act string

// The acts.
const (
	ActUnknown     Act = ""            // nobody says
	ActRequest     Act = "request"     // asks for work
	ActAnswer      Act = "answer"      // answers a question
	ActRefusal     Act = "refusal"     // refuses a call
	ActCommand     Act = "command"     // to the program: /clear
	ActShell       Act = "shell"       // a person's own command and its output: !ls
	ActInstruction Act = "instruction" // rules, skills, lists: holds until it is replaced
	ActReminder    Act = "reminder"    // of what was said before
	ActEnvironment Act = "environment" // date, folder, state of the editor
	ActNotice      Act = "notice"      // something happened: a job ended, a file changed
	ActResult      Act = "result"      // of a tool or of another agent's work
	ActQuote       Act = "quote"       // mentioned or pasted: a file, a log
	ActSummary     Act = "summary"     // of what came before
)

// Said is what the reader of a message knows of it apart from its words, from the fields
// of the recording or of the wire. It is no part of a message's identity: fingerprints
// leave it out. The zero value says that nothing is known.
type Said struct {
	Program string `json:"program,omitempty"` // that recorded or sent it, such as "claude-code"
	Author  Author `json:"author,omitempty"`
	Act     Act    `json:"act,omitempty"`
}

// SaidOf returns what is known of block b: what its reader said of the block, and of the
// whole message where it said nothing of the block.
func (m Message) SaidOf(b int) Said {
	s := m.Said
	if t, ok := m.Content[b].(Text); ok {
		if t.Said.Author != AuthorUnknown {
			s.Author, s.Act = t.Said.Author, t.Said.Act
		}
		if t.Said.Program != "" {
			s.Program = t.Said.Program
		}
	}
	return s
}

// Field is a member of a JSON object as it came. Messages, calls and results keep those
// that precis does not read, and encoders of the same dialect write them again where the
// bytes that they came in no longer hold: once content is shortened or repaired.
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

// inherit returns what an edit shows in the place of a block with what the edit does not
// say: what the reader knew of the block, and its unknown fields.
func inherit(was, now Block) Block {
	switch now := now.(type) {
	case Text:
		if was, ok := was.(Text); ok && now.Said == (Said{}) {
			now.Said = was.Said
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
