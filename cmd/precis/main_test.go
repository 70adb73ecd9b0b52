package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/provider/providertest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"precis": func() {
			os.Exit(run(context.Background(), os.Args[1:], console.Standard(os.Getenv)))
		},
		"conversation": func() { writeConversation(os.Args[1], os.Args[2]) },
		"client":       client,
	})
}

func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("short: each command starts a process; make test-all runs them")
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": exitsWith, "model": startModel, "await": awaitFile, "signal": sendSignal, "gone": pidGone,
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("XDG_CONFIG_HOME", e.WorkDir)
			return nil
		},
	})
}

// startModel is the script command "model DIALECT REPLY…": it starts a scripted model server and
// sets $URL. A reply is a file with the text to send, or "refuses", "fails", "overflows"; after
// "always" it sends ok.
func startModel(ts *testscript.TestScript, _ bool, args []string) {
	server := providertest.New(nil, providertest.Options{})
	ts.Defer(func() {
		server.Close()
		if p := server.Problems(); len(p) > 0 {
			ts.Fatalf("the API would refuse: %v", p)
		}
	})
	server.SetDefault(providertest.Fail(model.FaultAuth))
	for _, reply := range args[1:] {
		switch reply {
		case "refuses":
			server.Enqueue(providertest.Reply{Refused: true})
		case "fails":
			server.Enqueue(providertest.Fail(model.FaultRequest))
		case "overflows":
			server.Enqueue(providertest.Overflow(30_000, 40_000))
		case "always":
			server.SetDefault(providertest.Text("ok"))
		default:
			server.Enqueue(providertest.Text(ts.ReadFile(reply)))
		}
	}
	ts.Setenv("URL", server.BaseURL(args[0]))
}

// exitsWith is the script command "code N COMMAND…": the command exits with N.
func exitsWith(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// writeConversation writes a recording with 60 file reads: "anthropic" as a request body, "roo" as
// a task folder, "roo-text" as a task folder with calls and results as text. "talk" has no tool
// calls.
func writeConversation(kind, path string) {
	var msgs, ui []string
	add := func(role, content string) {
		ts := 1_700_000_000_000 + 1000*len(msgs)
		stamp := ""
		if strings.HasPrefix(kind, "roo") {
			stamp = fmt.Sprintf(`,"ts":%d`, ts)
			ui = append(ui, fmt.Sprintf(`{"ts":%d,"type":"say","say":"text","text":"step %d"}`, ts, len(msgs)))
		}
		msgs = append(msgs, fmt.Sprintf(`{"role":%q,"content":%s%s}`, role, content, stamp))
	}
	add("user", `"Never touch main.go. Read every file and report."`)
	for i := range 60 {
		body := strings.Repeat(fmt.Sprintf("line of file %d\\nfile of line %d\\n", i%20, i%20), 60)
		if kind == "roo-text" {
			add("assistant", fmt.Sprintf(`"Reading.\n<read_file>\n<path>f%d.txt</path>\n</read_file>"`, i%20))
			add("user", fmt.Sprintf(`[{"type":"text","text":"[read_file for 'f%d.txt'] Result:"},{"type":"text","text":"%s"}]`, i%20, body))
			continue
		}
		add("assistant", fmt.Sprintf(`[{"type":"text","text":"Reading."},{"type":"tool_use","id":"t%d","name":"read_file","input":{"path":"f%d.txt"}}]`, i, i%20))
		add("user", fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"t%d","content":"%s"}]`, i, body))
	}
	add("assistant", `"All read."`)
	add("user", `"Now report."`)
	if kind == "talk" {
		msgs = nil
		for i := range 80 {
			add("user", fmt.Sprintf(`"Question %d: what does the service do when step %d fails?"`, i, i))
			add("assistant", fmt.Sprintf(`"Answer %d: %s"`, i, strings.Repeat(fmt.Sprintf("it waits and tries step %d again. ", i), 40)))
		}
		add("user", `"Always answer in one word. Does it give up?"`)
	}
	if kind == "rules" { // more of them than a small window holds
		msgs = nil
		for i := range 6 {
			var rules strings.Builder
			for k := range 100 {
				fmt.Fprintf(&rules, "Never change file %d of the folder part%d without asking first. ", k, i)
			}
			add("user", fmt.Sprintf(`"Request %d. %s"`, i, rules.String()))
			add("assistant", `"Done."`)
		}
		add("user", `"Go on."`)
	}
	list := "[" + strings.Join(msgs, ",") + "]"
	write := func(name, data string) {
		if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
			panic(err)
		}
	}
	if !strings.HasPrefix(kind, "roo") {
		write(path, `{"model":"claude-sonnet-4-5","system":"You are careful.","messages":`+list+`}`)
		return
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		panic(err)
	}
	write(path+"/api_conversation_history.json", list)
	write(path+"/ui_messages.json", "["+strings.Join(ui, ",")+"]")
	write(path+"/history_item.json", `{"id":"task-1","task":"Read every file"}`)
}
