// Package aider reads the chat history of aider, .aider.chat.history.md. Start with [Format].
//
// The file is a log in Markdown that every run of aider appends to: "#### " begins a line of the
// user, "> " a line of the program, and other lines are the model's. All runs together are one
// conversation, as when aider itself restores a history. Output of the program becomes a separate
// text in the user's message, since the user saw it and answered it. So does text before the
// first prompt of a run, which cannot be the model's. Each such text is attributed to the
// program.
package aider

import (
	"bytes"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
)

// Format is the reader of aider's chat history.
type Format struct{}

// Name returns "aider".
func (Format) Name() string { return "aider" }

// started is the beginning of the first line of a run.
const started = "# aider chat started at "

// Detect looks for the first line of a run, or for the file's own name and a prompt.
func (Format) Detect(name string, data []byte) bool {
	head := bytes.TrimLeft(data, " \t\r\n\ufeff")
	if len(head) == 0 || head[0] == '{' || head[0] == '[' {
		return false
	}
	if bytes.HasPrefix(head, []byte(started)) || bytes.Contains(head, []byte("\n"+started)) {
		return true
	}
	prompted := bytes.HasPrefix(head, []byte("#### ")) || bytes.Contains(head, []byte("\n#### "))
	return prompted && strings.Contains(name, "aider.chat.history")
}

// Read reads a history. Any text is a valid history, so no input is malformed.
func (Format) Read(src archive.Source) (*archive.Recording, error) {
	r := &reader{
		conv:   &precis.Conversation{},
		msgs:   make([]precis.Message, 0, 2*bytes.Count(src.Data, []byte("\n\n#### "))),
		strict: bytes.Contains(src.Data, []byte("  \n")),
	}
	for line := range bytes.Lines(src.Data) {
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		r.line(string(bytes.ToValidUTF8(line, []byte("\uFFFD"))))
	}
	r.flush()
	r.conv.Transcript = precis.NewTranscript(r.msgs...)
	return &archive.Recording{Conversation: r.conv}, nil
}

// speaker is the author of a line.
type speaker int

const (
	nobody  speaker = iota
	program         // aider, and the commands it runs
	user
	model
)

// authors maps speakers to the origin of their text.
var authors = map[speaker]precis.Attribution{
	program: {Program: "aider", Author: precis.AuthorProgram, Act: precis.ActNotice},
	user:    {Program: "aider", Author: precis.AuthorPerson, Act: precis.ActRequest},
}

// reader joins lines to blocks and messages. Consecutive lines of one speaker are one block;
// consecutive blocks of the user and the program are one message.
type reader struct {
	conv     *precis.Conversation
	msgs     []precis.Message
	strict   bool // the file has the two trailing spaces with which aider ends its and the user's lines
	speaker  speaker
	lines    []string       // of the block being read
	msg      precis.Message // being read; no role if none
	at       time.Time      // start of the run, until a message has it
	prompted bool           // in this run
	joined   bool           // the last line was the program's and not blank
	dump     bool           // inside a text of the program with a mark only before its first line
}

// line reads one line.
func (r *reader) line(s string) {
	if rest, ok := strings.CutPrefix(s, started); ok {
		r.flush()
		r.at, _ = time.Parse(time.DateTime, strings.TrimSpace(rest))
		r.prompted, r.joined, r.dump = false, false, false
		return
	}
	who, words := r.splitSpeaker(s)
	r.joined = who == program && strings.TrimSpace(s) != ""
	if who == user {
		r.prompted = true
	}
	if who != r.speaker {
		if strings.TrimSpace(words) == "" && who != user && who != program {
			return // blank lines separate the speakers
		}
		r.block()
		r.speaker = who
	}
	if who == program {
		r.setModel(words)
	}
	r.lines = append(r.lines, words)
}

// splitSpeaker returns the speaker of a line, and the line without its mark. Texts that aider writes at
// once end in two spaces, as each of its single lines does.
func (r *reader) splitSpeaker(s string) (speaker, string) {
	ended := !r.strict || strings.HasSuffix(s, "  ")
	if words, ok := cutMark(s, "####"); ok && ended {
		r.dump = false
		return user, words
	}
	if words, ok := cutMark(s, ">"); ok && (ended || r.joined || r.speaker == user) {
		r.dump = !ended
		return program, words
	}
	if r.dump {
		r.dump = !ended || strings.TrimSpace(s) == ""
		return program, s
	}
	if r.joined && strings.TrimSpace(s) != "" || !r.prompted {
		return program, s
	}
	return model, s
}

func cutMark(s, mark string) (words string, ok bool) {
	words, ok = strings.CutPrefix(s, mark)
	if !ok || words != "" && words[0] != ' ' {
		return "", false
	}
	return strings.TrimRight(strings.TrimPrefix(words, " "), " "), true
}

// setModel takes the model's name from the lines at the beginning of a run.
func (r *reader) setModel(s string) {
	for _, head := range []string{"Main model: ", "Models: ", "Model: "} {
		if rest, ok := strings.CutPrefix(s, head); ok {
			name, _, _ := strings.Cut(rest, " with ")
			r.conv.Model = strings.TrimRight(name, " ⚡")
		}
	}
}

// block ends the block being read.
func (r *reader) block() {
	words := strings.Trim(strings.Join(r.lines, "\n"), "\n")
	r.lines = r.lines[:0]
	if strings.TrimSpace(words) == "" {
		return
	}
	role := precis.RoleUser
	if r.speaker == model {
		role = precis.RoleAssistant
	}
	if r.msg.Role != role {
		r.message()
		r.msg = precis.Message{Role: role, Time: r.at}
		r.at = time.Time{}
	}
	r.msg.Content = append(r.msg.Content, precis.Text{Text: words, Attribution: authors[r.speaker]})
}

// message ends the message being read.
func (r *reader) message() {
	if len(r.msg.Content) > 0 {
		r.msgs = append(r.msgs, r.msg)
	}
	r.msg = precis.Message{}
}

// flush ends the current block and message, as at the end of a run.
func (r *reader) flush() {
	r.block()
	r.message()
	r.speaker = nobody
}
