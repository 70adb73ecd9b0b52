package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/upstream"
	"github.com/precis-dev/precis/lab/clients"
)

func TestFlags(t *testing.T) {
	t.Setenv("CLIENTS_GATEWAY", "")
	tests := []struct{ args, want string }{
		{"", "name a gateway"},
		{"--direct --only nobody", "there is no set-up nobody"},
		{"--direct more", `what is "more"`},
		{"--unknown", "flag provided but not defined"},
	}
	for _, test := range tests {
		err := run(t.Context(), strings.Fields(test.args), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, want %q", test.args, err, test.want)
		}
	}
}

func TestGatewayOfTheEnvironment(t *testing.T) {
	t.Setenv("CLIENTS_GATEWAY", "run it")
	for args, want := range map[string]string{"": "run it", "--gateway other": "other", "--direct": ""} {
		var f flags
		if err := f.parse(strings.Fields(args), io.Discard); err != nil || f.Gateway != want || f.Upstream.Window != 60_000 {
			t.Errorf("%q: gateway %q, window %d, %v", args, f.Gateway, f.Upstream.Window, err)
		}
	}
}

func TestList(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), []string{"--list", "--only", "codex,cline"}, &out, io.Discard); err != nil || out.String() != "codex\ncline\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestJudgeAndJSON(t *testing.T) {
	f := flags{strict: true, json: filepath.Join(t.TempDir(), "r.json")}
	results := []clients.Result{{Name: "a", Done: true}, {Name: "b", Exit: 1}}
	if err := f.judge(results); err == nil || err.Error() != "1 of 2 set-ups failed" {
		t.Errorf("judged %v", err)
	}
	if err := f.writeJSON(results); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(f.json)
	var back []clients.Result
	if err != nil || json.Unmarshal(text, &back) != nil || len(back) != 2 || back[1].Exit != 1 {
		t.Errorf("%s, %v", text, err)
	}
}

func TestUpstreamAlone(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	in, out := io.Pipe()
	done := make(chan error)
	go func() { done <- run(ctx, []string{"upstream", "--window", "1000", "/p/a.txt"}, out, io.Discard) }()
	url := make([]byte, 100)
	n, err := in.Read(url)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Get(strings.TrimSpace(string(url[:n])) + "/stats")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var stats upstream.Stats
	if err := json.NewDecoder(resp.Body).Decode(&stats); err != nil || stats.Requests != 0 {
		t.Errorf("%+v, %v", stats, err)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
