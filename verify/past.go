package verify

import (
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/prose"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/retain"
	"github.com/precis-dev/precis/workstate"
)

// History is a conversation with the effects of its calls, as read by the caller. It caches derived
// data, so only one goroutine may use it at a time.
type History struct {
	Index    *retain.Index
	Messages []precis.Message
	Offset   int // added to the numbers of messages in handles
	// other sources of names: the system prompt, the state of the client's program
	Beside    string
	UserTexts []UserText              // texts that the user typed, each once
	Holds     *workstate.Reading      // plans, jobs, skills
	Outcomes  []toolcall.Outcome      // of the calls of Index
	Waiting   func(call int) bool     // whether a call has no result yet
	Failures  []Failure               // the newest failed run of each command that no later run resolved
	Changed   []File                  // in the order of the first change
	File      func(path string) *File // nil: no file, or more than one, may be meant
	// a command line without its folder and without filters of its output
	BareCommand func(line string) string

	tests   map[string]testEnd // see testEnds; nil: not read yet
	words   string             // of all sources, see prose.Plain; "": not read yet
	numbers []int              // where words in it begin with a digit; nil: not read yet
	persons []string           // words of persons and summaries of them; nil: not read yet
}

// UserText is one text that the user typed.
type UserText struct {
	Message int
	Text    string
}

// Failure is a command with a failed newest run.
type Failure struct {
	Message int
	Shown   string // the command as reports show it
	Line    string // as given
	End     toolcall.Outcome
}

// File is the fate of a file.
type File struct {
	Path     string
	State    string        // "created", "written", "read", "failed", "deleted", "reverted" or "" for unknown
	At       precis.Handle // the call that decided the state
	By       string        // the git command that decided it; "" for another call
	MovedTo  string
	Edits    []int          // calls with text that is in the file
	Tried    bool           // a call tried to change it
	Removed  bool           // a call has removed it at some time
	Restored bool           // git undid changes of it
	Refused  *precis.Handle // the newest change that the user refused
}

func (f *File) exists() bool { return f.State == "created" || f.State == "written" }

// allWords returns the words of all sources.
func (p *History) allWords() string {
	if p.words != "" {
		return p.words
	}
	out := prose.AppendPlain(nil, p.Beside)
	for i := range p.Index.Calls {
		out = prose.AppendPlain(append(out, ' '), p.Index.Calls[i].Name)
	}
	for _, m := range p.Messages {
		for _, b := range m.Content {
			out = blockWords(append(out, ' '), b)
		}
	}
	p.words = string(out)
	return p.words
}

func blockWords(out []byte, b precis.Block) []byte {
	switch b := b.(type) {
	case precis.Text:
		return prose.AppendPlain(out, withoutDoubts(b.Text))
	case precis.Thinking:
		return prose.AppendPlain(out, b.Text)
	case precis.ToolUse:
		return prose.AppendPlain(out, unescape.Replace(string(b.Input)))
	case precis.ToolResult:
		for _, c := range b.Content {
			out = blockWords(append(out, ' '), c)
		}
	}
	return out
}

// unescape undoes the escapes of JSON that separate words.
var unescape = strings.NewReplacer(`\n`, " ", `\t`, " ", `\r`, " ", `\"`, " ", `\\`, " ")

// personsSay reports whether is holds for a person's text in lower case, or a summary of it.
func (p *History) personsSay(is func(string) bool) bool {
	if p.persons == nil {
		p.persons = []string{}
		for _, s := range p.UserTexts {
			p.persons = append(p.persons, strings.ToLower(s.Text))
		}
		speech := precis.SpeechOf(p.Messages)
		for i, m := range p.Messages {
			if slices.Contains(speech.Authors(i), precis.AuthorRecap) {
				p.persons = append(p.persons, strings.ToLower(m.PlainText()))
			}
		}
	}
	return slices.ContainsFunc(p.persons, is)
}
