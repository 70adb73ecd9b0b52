package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// The module can be fetched: go get from a proxy of files, in an empty folder, builds the programs
// that the documents show.
func TestGoGet(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs with a module cache of their own")
	}
	const version = "v1.2.3"
	path, err := output(t.Context(), "../..", "go", "list", "-m")
	if err != nil {
		t.Fatal(err)
	}
	proxy := t.TempDir()
	dir := filepath.Join(proxy, filepath.FromSlash(path), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	if err := zip.CreateFromVCS(&packed, module.Version{Path: path, Version: version}, "../..", "HEAD", ""); err != nil {
		t.Fatal(err)
	}
	t.Logf("the module's zip has %d bytes", packed.Len())
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	info, err := json.Marshal(map[string]string{"Version": version, "Time": "2026-01-01T00:00:00Z"})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{".zip": packed.Bytes(), ".mod": mod, ".info": info} {
		if err := os.WriteFile(filepath.Join(dir, version+name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cache, err := output(t.Context(), ".", "go", "env", "GOMODCACHE")
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	env := append(os.Environ(), "GOPROXY=file://"+filepath.ToSlash(proxy)+",file://"+filepath.ToSlash(cache)+"/cache/download",
		"GOMODCACHE="+t.TempDir(), "GOFLAGS=-modcacherw -trimpath -mod=mod", "GONOSUMDB=*", "GONOSUMCHECK=1", "GOWORK=off", "CGO_ENABLED=0")
	do := func(args ...string) {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = work, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	do("mod", "init", "example.com/agent")
	do("get", path+"@"+version)
	for name, program := range map[string]string{"client": clientProgram, "view": viewProgram} {
		to := filepath.Join(work, name)
		if err := os.Mkdir(to, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, "main.go"), []byte(strings.ReplaceAll(program, "MODULE", path)), 0o644); err != nil {
			t.Fatal(err)
		}
		do("get", "./"+name)
		do("build", "-o", "program-"+name, "./"+name)
	}
	out, err := exec.Command(filepath.Join(work, "program-view")).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Find the bug.") {
		t.Errorf("%v: %s", err, out)
	}
}

const clientProgram = `package main

import (
	"fmt"

	"MODULE/keeper"
)

func main() {
	k, err := keeper.Open("agent.db", keeper.Options{})
	if err != nil {
		panic(err)
	}
	defer k.Close()
	fmt.Println(k.HTTPClient())
}
`

const viewProgram = `package main

import (
	"context"
	"fmt"

	"MODULE"
	"MODULE/keeper"
)

func main() {
	k, err := keeper.Open("", keeper.Options{})
	if err != nil {
		panic(err)
	}
	defer k.Close()
	ctx := context.Background()
	conv, err := k.Conversation(ctx, "ticket-4711")
	if err != nil {
		panic(err)
	}
	conv.Append(precis.NewText(precis.RoleUser, "Find the bug."))
	view, err := conv.View(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", view.JSON)
}
`
