package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// turn is a step of the sample conversation.
type turn struct{ call, path, result, says string }

// ask is the first request; the last words of the user are in the last turn.
const ask = "Port the lighthouse controller to Go. Never change lamp/legacy.go. All errors wrap ErrLamp."

// turns returns n steps with file reads.
func turns(n int) []turn {
	var out []turn
	for i := range n {
		t := turn{fmt.Sprintf("call-%d", i), fmt.Sprintf("lamp/part%d.go", i), strings.Repeat(fmt.Sprintf("line of part %d\n", i), 8), fmt.Sprintf("Reading part %d 🗼 灯台.", i)}
		if i%7 == 3 {
			t.result = fmt.Sprintf("lamp/part%d.go:12: ERROR E4%03d: undefined: rotateLens%d\nexit status 1", i, i, i)
		}
		out = append(out, t)
	}
	return out
}

func quote(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// recordings write the sample conversation in the format of each program.
var recordings = map[string]func(n int) string{
	"claude-code": func(n int) string {
		var b strings.Builder
		parent, id := "null", 0
		add := func(role, content string) {
			id++
			fmt.Fprintf(&b, `{"parentUuid":%s,"uuid":"u%d","sessionId":"s1","timestamp":"2026-01-01T00:00:00Z","type":%q,"cwd":"/src/lamp","message":{"role":%q,"id":"m%d","model":"claude-sonnet-4-5","content":%s}}`+"\n", parent, id, role, role, id, content)
			parent = fmt.Sprintf(`"u%d"`, id)
		}
		add("user", quote(ask))
		for _, t := range turns(n) {
			add("assistant", fmt.Sprintf(`[{"type":"text","text":%s},{"type":"tool_use","id":%q,"name":"Read","input":{"file_path":%q}}]`, quote(t.says), t.call, t.path))
			add("user", fmt.Sprintf(`[{"type":"tool_result","tool_use_id":%q,"content":%s}]`, t.call, quote(t.result)))
		}
		add("assistant", `[{"type":"text","text":"All parts are read."}]`)
		return b.String()
	},
	"codex": func(n int) string {
		var b strings.Builder
		add := func(kind, payload string) {
			fmt.Fprintf(&b, `{"timestamp":"2026-01-01T00:00:00Z","type":%q,"payload":%s}`+"\n", kind, payload)
		}
		add("session_meta", `{"id":"s1","timestamp":"2026-01-01T00:00:00Z","cwd":"/src/lamp"}`)
		add("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":`+quote(ask)+`}]}`)
		for _, t := range turns(n) {
			add("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":`+quote(t.says)+`}]}`)
			add("response_item", fmt.Sprintf(`{"type":"function_call","name":"shell","arguments":%s,"call_id":%q}`, quote(`{"command":["cat","`+t.path+`"]}`), t.call))
			add("response_item", fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%s}`, t.call, quote(t.result)))
		}
		add("compacted", `{"message":"The port is begun; parts were read."}`)
		return b.String()
	},
	"qwen": func(n int) string {
		var b strings.Builder
		parent, id := "null", 0
		add := func(kind, role, parts string) {
			id++
			fmt.Fprintf(&b, `{"uuid":"u%d","parentUuid":%s,"sessionId":"s1","timestamp":"2026-01-01T00:00:00Z","type":%q,"cwd":"/src/lamp","model":"qwen3","message":{"role":%q,"parts":[%s]}}`+"\n", id, parent, kind, role, parts)
			parent = fmt.Sprintf(`"u%d"`, id)
		}
		add("user", "user", `{"text":`+quote(ask)+`}`)
		for _, t := range turns(n) {
			add("assistant", "model", fmt.Sprintf(`{"text":%s},{"functionCall":{"id":%q,"name":"read_file","args":{"path":%q}}}`, quote(t.says), t.call, t.path))
			add("tool_result", "user", fmt.Sprintf(`{"functionResponse":{"id":%q,"name":"read_file","response":{"output":%s}}}`, t.call, quote(t.result)))
		}
		return b.String()
	},
	"gemini": func(n int) string {
		var b strings.Builder
		b.WriteString(`{"sessionId":"s1","projectHash":"h","startTime":"2026-01-01T00:00:00Z","kind":"main"}` + "\n")
		fmt.Fprintf(&b, `{"id":"0","type":"user","content":%s}`+"\n", quote(ask))
		for i, t := range turns(n) {
			fmt.Fprintf(&b, `{"id":"g%d","type":"gemini","model":"gemini-3","content":%s,"toolCalls":[{"id":%q,"name":"read_file","args":{"path":%q},"status":"success","result":[{"functionResponse":{"id":%q,"name":"read_file","response":{"output":%s}}}]}]}`+"\n", i, quote(t.says), t.call, t.path, t.call, quote(t.result))
		}
		return b.String()
	},
	"pi": func(n int) string {
		var b strings.Builder
		parent, id := "null", 0
		add := func(message string) {
			id++
			fmt.Fprintf(&b, `{"id":"e%d","parentId":%s,"timestamp":"2026-01-01T00:00:00Z","type":"message","message":{%s}}`+"\n", id, parent, message)
			parent = fmt.Sprintf(`"e%d"`, id)
		}
		b.WriteString(`{"type":"session","id":"s1","timestamp":"2026-01-01T00:00:00Z","cwd":"/src/lamp","modelId":"m0"}` + "\n")
		add(`"role":"user","content":` + quote(ask))
		for _, t := range turns(n) {
			add(fmt.Sprintf(`"role":"assistant","model":"m1","content":[{"type":"text","text":%s},{"type":"toolCall","id":%q,"name":"read","arguments":{"path":%q}}]`, quote(t.says), t.call, t.path))
			add(fmt.Sprintf(`"role":"toolResult","toolCallId":%q,"toolName":"read","content":[{"type":"text","text":%s}]`, t.call, quote(t.result)))
		}
		return b.String()
	},
	"opencode": func(n int) string { // the messages, as its plugin hands them over
		list := []string{`{"info":{"id":"m","sessionID":"s1","time":{"created":1},"role":"user"},"parts":[{"type":"text","text":` + quote(ask) + `}]}`}
		for i, t := range turns(n) {
			list = append(list, fmt.Sprintf(`{"info":{"id":"m%d","sessionID":"s1","time":{"created":%d},"role":"assistant","modelID":"m-1","providerID":"p"},"parts":[{"type":"text","text":%s},{"type":"tool","tool":"read","callID":%q,"state":{"input":{"path":%q},"status":"completed","output":%s,"time":{"start":1,"end":2}}}]}`,
				i, i+2, quote(t.says), t.call, t.path, quote(t.result)))
		}
		return "[" + strings.Join(list, ",") + "]"
	},
	"hermes": func(n int) string { // what its context engine says
		var b strings.Builder
		fmt.Fprintf(&b, `{"conversation":"hermes s1 0","model":"test-1","window":20000,"messages":[{"role":"system","content":"You are Hermes."},{"role":"user","content":%s}`, quote(ask))
		for _, t := range turns(n) {
			arguments := quote(fmt.Sprintf(`{"path":%q}`, t.path))
			fmt.Fprintf(&b, `,{"role":"assistant","content":%s,"tool_calls":[{"id":%q,"type":"function","function":{"name":"read_file","arguments":%s}}]}`, quote(t.says), t.call, arguments)
			fmt.Fprintf(&b, `,{"role":"tool","tool_call_id":%q,"content":%s}`, t.call, quote(t.result))
		}
		return b.String() + "]}"
	},
	"cline": func(n int) string { // the messages, as its plugin hands them over
		list := []string{`{"id":"first","role":"user","content":[{"type":"text","text":` + quote(ask) + `}],"ts":1}`}
		for i, t := range turns(n) {
			list = append(list,
				fmt.Sprintf(`{"id":"a%d","role":"assistant", "content":[{"type":"text","text":%s},{"type":"tool_use","id":%q,"name":"read_files","input":{"path":%q}}],"ts":2,"modelInfo":{"id":"m-1"}}`, i, quote(t.says), t.call, t.path),
				fmt.Sprintf(`{"id":"r%d","role":"user","content":[{"type":"tool_result","tool_use_id":%q,"name":"read_files","content":%s}],"ts":3}`, i, t.call, quote(t.result)))
		}
		return "[" + strings.Join(list, ",\n") + "]"
	},
}

// session is a program's session on which hooks are called.
type session struct {
	t    testing.TB
	host string
	path string // of the transcript
	o    Options
}

// begin writes a recording of n steps.
func begin(t testing.TB, host string, n int) *session {
	t.Helper()
	dir := t.TempDir()
	s := &session{t: t, host: host, path: filepath.Join(dir, "session.jsonl"), o: Options{
		State: filepath.Join(dir, "state"), Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
		deadline: 10 * time.Minute, // for machines that are busy; see TestDeadline
	}}
	if n > 0 {
		s.write(recordings[host](n))
	}
	return s
}

func (s *session) write(text string) {
	s.t.Helper()
	if err := os.WriteFile(s.path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// run answers an event; TRANSCRIPT in the input is the path of the recording.
func (s *session) run(event, in string, args ...string) string {
	s.t.Helper()
	in = strings.ReplaceAll(in, "TRANSCRIPT", s.path)
	out := Run(context.Background(), s.o, Call{Host: s.host, Event: event, Args: args, In: strings.NewReader(in)})
	return string(out)
}

// last is the newest entry of the journal.
func (s *session) last() Entry {
	s.t.Helper()
	all := Journal(s.o.State)
	if len(all) == 0 {
		s.t.Fatal("the journal is empty")
	}
	return all[len(all)-1]
}

// added is the text that an answer gives to the model.
func (s *session) added(answer, event string) string {
	s.t.Helper()
	var out struct {
		Specific struct {
			Event   string `json:"hookEventName"`
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal([]byte(answer), &out); err != nil || out.Specific.Event != event || out.Specific.Context == "" {
		s.t.Fatalf("no text at %s: %v, %.300q", event, err, answer)
	}
	return out.Specific.Context
}

// endless is an input that has no end and is slow, or fails with a panic.
type endless struct{ panics bool }

func (e endless) Read([]byte) (int, error) {
	if e.panics {
		panic("words of the conversation")
	}
	time.Sleep(time.Hour)
	return 0, errors.New("it ended")
}
