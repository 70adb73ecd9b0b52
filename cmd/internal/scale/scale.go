// Package scale makes recordings of one shape in any size, to see how time and memory grow
// with it. Start with [Shapes]. The command cmd/internal/scale/cmd/scale measures the program by
// them, and a test of cmd/precis counts what it allocates.
//
//precis:testonly
package scale

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
)

// Shape is a kind of recording that has much of one thing.
type Shape struct {
	Name string
	File string // base name of the recording
	Unit int    // n for the smallest size worth a measurement
	// Pieces is how many messages, blocks, facts or edits a recording of size n has, for
	// those who count memory by them; nil: n.
	Pieces func(n int) int
	make   func(n int) []byte
}

// Write writes the recording of size n into a folder and returns its path.
func (s Shape) Write(dir string, n int) (string, error) {
	path := filepath.Join(dir, s.File)
	return path, os.WriteFile(path, s.make(n), 0o600)
}

// Count returns the pieces of a recording of size n.
func (s Shape) Count(n int) int {
	if s.Pieces == nil {
		return n
	}
	return s.Pieces(n)
}

const lines = "recording.jsonl"

func times(k int) func(int) int { return func(n int) int { return k * n } }

// sizeOne is for shapes whose size is that of one text.
func sizeOne(int) int { return 1 }

// Shapes returns all shapes.
func Shapes() []Shape {
	return []Shape{
		{Name: "messages", File: lines, Unit: 1000, make: messages},
		{Name: "blocks in one message", File: lines, Unit: 1000, make: blocks},
		{Name: "calls in one message", File: lines, Unit: 500, Pieces: times(2), make: calls},
		{Name: "messages of one call", File: lines, Unit: 500, Pieces: times(2), make: callMessages},
		{Name: "files read again", File: lines, Unit: 200, Pieces: times(2), make: reads},
		{Name: "edits", File: "recording.precis", Unit: 200, Pieces: times(3), make: edits},
		{Name: "branches", File: lines, Unit: 300, Pieces: times(2), make: branches},
		{Name: "identifiers", File: lines, Unit: 2000, make: identifiers},
		{Name: "array as an argument", File: lines, Unit: 2000, make: array},
		{Name: "turns of aider", File: ".aider.chat.history.md", Unit: 1000, Pieces: times(2), make: aider},
		{Name: "letters", File: lines, Unit: 100_000, Pieces: sizeOne,
			make: func(n int) []byte { return output(strings.Repeat("a", n)) }},
		{Name: "slashes", File: lines, Unit: 100_000, Pieces: sizeOne,
			make: func(n int) []byte { return output(strings.Repeat("/", n)) }},
		{Name: "NUL bytes", File: lines, Unit: 100_000, Pieces: sizeOne,
			make: func(n int) []byte { return output(strings.Repeat("\x00", n)) }},
		{Name: "ESC bytes", File: lines, Unit: 100_000, Pieces: sizeOne,
			make: func(n int) []byte { return output(strings.Repeat("\x1b", n)) }},
	}
}

type object = map[string]any

// log is a recording of a message a line.
type log struct{ bytes.Buffer }

func (l *log) addMessage(role string, content any) {
	e := json.NewEncoder(&l.Buffer)
	e.SetEscapeHTML(false)
	if err := e.Encode(object{"role": role, "content": content}); err != nil {
		panic(err) // strings and maps of them
	}
}

func call(i int, name string, input any) object {
	return object{"type": "tool_use", "id": fmt.Sprint("toolu_", i), "name": name, "input": input}
}

func result(i int, text string) object {
	return object{"type": "tool_result", "tool_use_id": fmt.Sprint("toolu_", i), "content": text}
}

func file(i int) object { return object{"path": fmt.Sprintf("src/file%d.go", i)} }

// end closes a recording with a request that nobody has answered.
func (l *log) end() []byte {
	l.addMessage("assistant", "Done.")
	l.addMessage("user", "And now?")
	return l.Bytes()
}

func messages(n int) []byte {
	var l log
	for i := range n {
		if i%2 == 0 {
			l.addMessage("user", fmt.Sprint("do ", i))
		} else {
			l.addMessage("assistant", fmt.Sprint("ok ", i))
		}
	}
	return l.Bytes()
}

func blocks(n int) []byte {
	var l log
	var content []object
	for i := range n {
		content = append(content, object{"type": "text", "text": fmt.Sprint("block ", i)})
	}
	l.addMessage("user", "Go on.")
	l.addMessage("assistant", content)
	l.addMessage("user", "And now?")
	return l.Bytes()
}

func calls(n int) []byte {
	var l log
	var uses, results []object
	for i := range n {
		uses, results = append(uses, call(i, "read_file", file(i))), append(results,
			result(i, fmt.Sprint("line ", i)))
	}
	l.addMessage("user", "Read all of it.")
	l.addMessage("assistant", uses)
	l.addMessage("user", results)
	return l.end()
}

func callMessages(n int) []byte {
	var l log
	l.addMessage("user", "Read all of it.")
	for i := range n {
		l.addMessage("assistant", []object{call(i, "read_file", file(i))})
		l.addMessage("user", []object{result(i, strings.Repeat(fmt.Sprintf("line %d\n", i), 5))})
	}
	return l.end()
}

// reads reads ten files again and again, with results large enough to be pointed to.
func reads(n int) []byte {
	var l log
	l.addMessage("user", "Keep an eye on them.")
	for i := range n {
		l.addMessage("assistant", []object{call(i, "read_file", file(i%10))})
		l.addMessage("user", []object{result(i, strings.Repeat(fmt.Sprintf("func f%d() {}\n", i%10), 40))})
	}
	return l.end()
}

// edits is precis's own file: each result is shortened by an edit of its own.
func edits(n int) []byte {
	n = min(n, archive.MaxEdits)
	original := callMessages(n)
	t := precis.NewTranscript(precis.NewText("user", "Read all of it."))
	c := archive.NewContainer("plain", lines, original)
	for i := range n {
		text := strings.Repeat(fmt.Sprintf("line %d\n", i), 5)
		input, _ := json.Marshal(file(i)) // a map of strings
		id := fmt.Sprint("toolu_", i)
		t.Append(precis.Message{Role: precis.RoleAssistant,
			Content: []precis.Block{precis.ToolUse{ID: id, Name: "read_file", Input: input}}},
			precis.Message{Role: precis.RoleUser,
				Content: []precis.Block{precis.ToolResult{ToolUseID: id,
					Content: []precis.Block{precis.Text{Text: text}}}}})
		short := precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: "[shortened]"}}}
		e := precis.Edit{Kind: precis.KindPruning,
			Replace: []precis.Replacement{precis.ReplaceBlock(t, 2+2*i, 0, short)}}
		if err := e.Identify(t); err != nil {
			panic(err) // it replaces a block that is there
		}
		c.Edits = append(c.Edits, e)
	}
	data, err := c.Bytes()
	if err != nil {
		panic(err) // there are no more edits than a file may have
	}
	return data
}

// branches is a session of Claude Code in which the user has gone back to the first answer
// and asked something else, again and again.
func branches(n int) []byte {
	var b bytes.Buffer
	line := func(id, parent, role, text string) {
		up := "null"
		if parent != "" {
			up = fmt.Sprintf("%q", parent)
		}
		content := fmt.Sprintf("%q", text)
		if role == "assistant" {
			content = fmt.Sprintf(`[{"type":"text","text":%q}]`, text)
		}
		fmt.Fprintf(&b, `{"parentUuid":%s,"uuid":%q,"sessionId":"s1","timestamp":"2026-01-01T00:00:00Z","type":%q,"message":{"role":%q,"content":%s}}`+"\n", up, id, role, role, content)
	}
	line("u", "", "user", "Begin.")
	line("a", "u", "assistant", "I have begun.")
	for i := range n {
		line(fmt.Sprint("u", i), "a", "user", fmt.Sprint("Try way ", i))
		line(fmt.Sprint("a", i), fmt.Sprint("u", i), "assistant", fmt.Sprint("Way ", i, " fails."))
	}
	return b.Bytes()
}

func identifiers(n int) []byte {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "ident_%x ", sha256.Sum256(fmt.Append(nil, i)))
	}
	return output(b.String())
}

// output is a conversation with the output of one command.
func output(text string) []byte {
	var l log
	l.addMessage("user", "List it.")
	l.addMessage("assistant", []object{call(0, "bash", object{"command": "ls"})})
	l.addMessage("user", []object{result(0, text)})
	return l.end()
}

func array(n int) []byte {
	var l log
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprint("a", i)
	}
	l.addMessage("user", "Run it.")
	l.addMessage("assistant", []object{call(0, "bash", object{"command": words})})
	l.addMessage("user", []object{result(0, "ok")})
	return l.end()
}

func aider(n int) []byte {
	var b bytes.Buffer
	b.WriteString("\n# aider chat started at 2026-01-01 10:00:00\n\n")
	for i := range n {
		fmt.Fprintf(&b, "#### q%d\n\nok\n\n", i)
	}
	return b.Bytes()
}
