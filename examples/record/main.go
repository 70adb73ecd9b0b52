// Command record made the conversation in this folder: it works through a real
// task on this repository, runs each command for real, and writes what was
// asked, done and answered as a Claude Code style recording. Nothing in it was
// made up but the words between the commands.
//
// Run it from the repository's root:
//
//	go run ./examples/record > examples/add-a-counter.jsonl
//
//precis:testonly
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// step is one turn: what the assistant says, and the call it makes. A step
// without a tool is an answer; one with ask is something the user says.
type step struct {
	ask  string
	say  string
	tool string
	arg  string
}

func main() {
	r := recorder{out: bufio.NewWriter(os.Stdout), now: time.Now().UTC().Truncate(time.Second)}
	for _, s := range steps {
		r.step(s)
	}
	if err := r.out.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

type recorder struct {
	out   *bufio.Writer
	now   time.Time
	lines int
	calls int
}

// line writes one line of the recording.
func (r *recorder) line(kind string, message map[string]any) {
	r.lines++
	v := map[string]any{
		"type": kind, "uuid": fmt.Sprintf("line-%d", r.lines), "sessionId": "add-a-counter", "isSidechain": false,
		"cwd": ".", "timestamp": r.now.Format(time.RFC3339Nano), "message": message,
	}
	if r.lines > 1 {
		v["parentUuid"] = fmt.Sprintf("line-%d", r.lines-1)
	}
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and numbers alone: cannot fail
	}
	r.out.Write(append(data, '\n'))
	r.now = r.now.Add(3 * time.Second)
}

func (r *recorder) step(s step) {
	if s.ask != "" {
		r.line("user", map[string]any{"role": "user", "content": s.ask})
		return
	}
	id := fmt.Sprintf("msg_%03d", r.lines)
	content := []any{map[string]any{"type": "text", "text": s.say}}
	if s.tool == "" {
		r.line("assistant", map[string]any{"id": id, "role": "assistant", "content": content})
		return
	}
	r.calls++
	use := fmt.Sprintf("toolu_%03d", r.calls)
	input, output, failed := perform(s)
	content = append(content, map[string]any{"type": "tool_use", "id": use, "name": s.tool, "input": input})
	r.line("assistant", map[string]any{"id": id, "role": "assistant", "content": content})
	r.line("user", map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "tool_result", "tool_use_id": use, "content": output, "is_error": failed},
	}})
}

// perform runs a step's call and returns its arguments, its output and whether
// it failed.
func perform(s step) (input map[string]any, output string, failed bool) {
	if s.tool == "Read" {
		data, err := os.ReadFile(s.arg)
		if err != nil {
			return map[string]any{"file_path": s.arg}, err.Error(), true
		}
		return map[string]any{"file_path": s.arg}, numbered(string(data)), false
	}
	out, err := exec.Command("bash", "-c", s.arg).CombinedOutput()
	text := clean(string(out))
	if err != nil {
		text += "\n" + err.Error()
	}
	return map[string]any{"command": s.arg}, text, err != nil
}

// numbered writes a file as the Read tools of agents do.
func numbered(text string) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		fmt.Fprintf(&b, "%6d\t%s\n", i+1, line)
	}
	return b.String()
}

// clean takes the place of this checkout out of a command's output.
func clean(text string) string {
	if dir, err := os.Getwd(); err == nil {
		text = strings.ReplaceAll(text, dir, ".")
	}
	if home, err := os.UserHomeDir(); err == nil {
		text = strings.ReplaceAll(text, home, "~")
	}
	return strings.TrimRight(text, "\n")
}
