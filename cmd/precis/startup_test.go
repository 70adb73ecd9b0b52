package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
)

// Every command pays for what packages do before main. Ours build no tables
// there; GODEBUG=inittrace=1 lists what each allocates.
func TestStartingBuildsNoTables(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), self)
	cmd.Args = []string{"precis", "version"}
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace strings.Builder
	cmd.Stderr = &trace
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	module := reflect.TypeFor[precis.Message]().PkgPath()
	const most = 1000 // allocations: some small maps, no tables of regular expressions
	seen := 0
	for line := range strings.Lines(trace.String()) {
		var name string
		var at, clock float64
		var bytes, allocs int
		n, _ := fmt.Sscanf(line, "init %s @%f ms, %f ms clock, %d bytes, %d allocs", &name, &at, &clock, &bytes, &allocs)
		if n != 5 || !strings.HasPrefix(name, module+"/") {
			continue
		}
		if seen++; allocs > most {
			t.Errorf("%s makes %d allocations before main, %d bytes", name, allocs, bytes)
		}
	}
	if seen == 0 {
		t.Errorf("no trace:\n%s", trace.String())
	}
}
