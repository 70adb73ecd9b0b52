package digest_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path"
	"strings"

	"github.com/precis-dev/precis"
)

const root = "/home/dev/shop/"

// session is a made-up agent's work that grows turn by turn, with what must not
// be forgotten of it.
type session struct {
	r        *rand.Rand
	msgs     []precis.Message
	calls    int
	turns    int
	requests []string
	rules    []string
	written  []string // relative to root
}

func newSession(seed uint64) *session { return &session{r: rand.New(rand.NewPCG(seed, 3))} }

func (s *session) user(words string) {
	s.msgs = append(s.msgs, precis.NewText(precis.RoleUser, words))
	s.requests = append(s.requests, words)
}

func (s *session) says(words string) {
	s.msgs = append(s.msgs, precis.NewText(precis.RoleAssistant, words))
}

// call adds a call with its result; an answer of "-" leaves it open.
func (s *session) call(name string, args map[string]any, answer string) string {
	s.calls++
	id := fmt.Sprint("call", s.calls)
	input, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	s.msgs = append(s.msgs, precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: name, Input: input}}})
	if answer != "-" {
		failed := strings.HasPrefix(answer, "Exit code 1")
		s.msgs = append(s.msgs, precis.Message{Role: precis.RoleUser, Content: []precis.Block{
			precis.ToolResult{ToolUseID: id, IsError: failed, Content: []precis.Block{precis.Text{Text: answer}}}}})
	}
	return id
}

// source is a file of about n functions as a reading tool shows it.
func (s *session) source(file string, n int) string {
	base := strings.TrimSuffix(path.Base(file), ".go")
	var b strings.Builder
	line := 1
	add := func(format string, args ...any) {
		fmt.Fprintf(&b, "%6d\t%s\n", line, fmt.Sprintf(format, args...))
		line++
	}
	add("package %s", base)
	for i := range n {
		add("// load%s%d finds the %s of order %d.", base, i, base, s.r.IntN(1000))
		add("func load%s%d(ctx context.Context, orderID int) (*%sRecord, error) {", base, i, base)
		for range 4 + s.r.IntN(6) {
			add("\tif orderID > %d { return nil, err%sNotFound%d }", s.r.IntN(9000), base, s.r.IntN(9))
		}
		add("\treturn &%sRecord{orderID: orderID}, nil", base)
		add("}")
	}
	return b.String()
}

func (s *session) file() string {
	return fmt.Sprintf("internal/part%d/module%d.go", s.r.IntN(4), s.r.IntN(30))
}

func (s *session) wrote(file string) {
	for _, f := range s.written {
		if f == file {
			return
		}
	}
	s.written = append(s.written, file)
}

// turn is a request and the work it causes.
func (s *session) turn() {
	n := s.turns
	s.turns++
	words := fmt.Sprintf("Request %d: please make loadmodule%d in module%d.go faster and say why it was slow.", n, n, n)
	if n%4 == 1 {
		rule := fmt.Sprintf("Never change the table orders_%d by hand.", n)
		s.rules = append(s.rules, rule)
		words += "\n" + rule
	}
	s.user(words)
	s.says(fmt.Sprintf("I will look at part %d first.", n))
	if s.r.IntN(3) == 0 {
		s.call("TodoWrite", map[string]any{"todos": []any{
			map[string]any{"content": fmt.Sprintf("measure step %d", n), "status": "completed"},
			map[string]any{"content": fmt.Sprintf("rewrite step %d", n), "status": "in_progress"}}}, "Todos have been modified")
	}
	for range 2 + s.r.IntN(5) {
		s.step()
	}
	s.says(fmt.Sprintf("Done with request %d: the loop in module%d.go was quadratic.", n, n))
}

func (s *session) step() {
	f := s.file()
	switch s.r.IntN(6) {
	case 0, 1:
		s.call("Read", map[string]any{"file_path": root + f}, s.source(f, 4+s.r.IntN(20)))
	case 2:
		s.wrote(f)
		s.call("Edit", map[string]any{"file_path": root + f, "old_string": "return nil", "new_string": fmt.Sprintf("return errWrapped%d", s.r.IntN(99))}, "The file has been updated.")
	case 3:
		s.wrote(f)
		s.call("Write", map[string]any{"file_path": root + f, "content": s.source(f, 3)}, "File created successfully")
	case 4:
		out := "ok  \tshop/internal\t0.4s\n"
		if s.r.IntN(2) == 0 {
			out = fmt.Sprintf("Exit code 1\n--- FAIL: TestOrder%d (0.00s)\n    order_test.go:%d: got %d, want 12\nFAIL\n", s.r.IntN(50), s.r.IntN(400), s.r.IntN(90))
		}
		s.call("Bash", map[string]any{"command": fmt.Sprintf("go test ./internal/part%d", s.r.IntN(4))}, out)
	case 5:
		note := fmt.Sprintf("notes/step%d.md", s.r.IntN(12))
		s.wrote(note)
		s.call("Bash", map[string]any{"command": "cd " + strings.TrimSuffix(root, "/") + " && echo done > " + root + note}, "")
	}
}

// coverageOutside returns all that messages say, white space folded.
func coverageOutside(view []precis.Message) string {
	var b strings.Builder
	for _, m := range view {
		for _, block := range m.Content {
			switch block := block.(type) {
			case precis.Text:
				b.WriteString(block.Text + "\n")
			case precis.ToolUse:
				b.WriteString(block.Name + " ")
				b.Write(block.Input)
				b.WriteByte('\n')
			case precis.ToolResult:
				b.WriteString(block.Text() + "\n")
			}
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
