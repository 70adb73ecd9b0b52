package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// client is an agent for scripts: "talk N" sends a conversation of N turns to its base URL, "get
// PATH…" prints the responses there, "exit N" ends, "wait FILE" writes its process ID and its
// parent's to FILE and waits for signals, which it records in FILE.got.
func client() {
	args := os.Args[1:]
	switch args[0] {
	case "talk":
		n, err := strconv.Atoi(args[1])
		check(err)
		talk(n)
	case "exit":
		n, err := strconv.Atoi(args[1])
		check(err)
		os.Exit(n)
	case "wait":
		await(args[1])
	case "get":
		get(args[1:])
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
}

func await(file string) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGUSR1)
	check(os.WriteFile(file+".part", fmt.Appendf(nil, "%d %d", os.Getpid(), os.Getppid()), 0o600))
	check(os.Rename(file+".part", file))
	var got []string
	tell := func() { check(os.WriteFile(file+".got", []byte(strings.Join(got, " ")), 0o600)) }
	for {
		select {
		case s := <-signals:
			got = append(got, s.String())
			tell()
			if s == syscall.SIGTERM {
				os.Exit(9)
			}
		case <-time.After(30 * time.Second):
			os.Exit(98)
		}
	}
}

func get(paths []string) {
	for _, path := range paths {
		res, err := http.Get(os.Getenv("ANTHROPIC_BASE_URL") + path)
		check(err)
		_ = res.Body.Close()
		fmt.Println(res.StatusCode, path)
	}
}

// talk reads files, as agents do, over the Messages API.
func talk(turns int) {
	type object = map[string]any
	messages := []object{{"role": "user", "content": "Read every file."}}
	for n := range turns {
		body, err := json.Marshal(object{"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": messages, "tools": []object{{"name": "read", "input_schema": object{"type": "object"}}}})
		check(err)
		req, err := http.NewRequest(http.MethodPost, os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", bytes.NewReader(body))
		check(err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Anthropic-Version", "2023-06-01")
		req.Header.Set("X-Api-Key", "test-key-1234")
		res, err := http.DefaultClient.Do(req)
		check(err)
		text, _ := io.ReadAll(res.Body) // what there is of it
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			check(fmt.Errorf("turn %d: status %d: %s", n, res.StatusCode, text))
		}
		id := fmt.Sprintf("t%d", n)
		messages = append(messages,
			object{"role": "assistant", "content": []object{{"type": "tool_use", "id": id, "name": "read", "input": object{"path": id}}}},
			object{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": id, "content": strings.Repeat("line of "+id+"\n", 300)}}})
	}
	fmt.Printf("talked %d turns\n", turns)
}

// awaitFile is the script command "await FILE".
func awaitFile(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	until(ts, "there is no "+args[0], func() bool { _, err := os.Stat(path); return err == nil })
}

// sendSignal is the script command "signal NAME FILE WHO": the client that wrote
// FILE, or its parent, gets a signal.
func sendSignal(ts *testscript.TestScript, _ bool, args []string) {
	sig, ok := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "USR1": syscall.SIGUSR1, "KILL": syscall.SIGKILL, "HUP": syscall.SIGHUP}[args[0]]
	if !ok {
		ts.Fatalf("unknown signal %s", args[0])
	}
	ts.Check(syscall.Kill(pidOf(ts, args[1], args[2]), sig))
}

// pidGone is the script command "gone FILE WHO".
func pidGone(ts *testscript.TestScript, _ bool, args []string) {
	pid := pidOf(ts, args[0], args[1])
	until(ts, args[1]+" still runs", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || bytes.Contains(stat, []byte(") Z "))
	})
}

func pidOf(ts *testscript.TestScript, file, who string) int {
	own, parent, _ := strings.Cut(ts.ReadFile(file), " ")
	if who == "parent" {
		own = parent
	}
	pid, err := strconv.Atoi(own)
	ts.Check(err)
	return pid
}

// until waits for something that another process does.
func until(ts *testscript.TestScript, otherwise string, done func() bool) {
	for range 1000 {
		if done() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("%s", otherwise)
}
