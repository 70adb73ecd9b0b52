//go:build !race

package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/cmd/internal/scale"
)

// mostAllocated bounds the growth of allocations for ten times the input. Quadratic work grows
// about a hundred times, linear work at most ten times.
const mostAllocated = 15.0

// TestWorkGrowsWithTheRecording counts the bytes that commands allocate for recordings of every
// shape and for ones ten times as large. This number does not depend on the machine's load; make
// scale measures time and memory. The test is not built with the race detector, where pools drop
// content at random and new allocations would be counted.
func TestWorkGrowsWithTheRecording(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	routes := []string{"inspect", "view --json", "digest", "condense --dry-run"}
	if testing.Short() {
		routes = routes[:1]
	}
	for _, s := range scale.Shapes() {
		for _, route := range routes {
			t.Run(fmt.Sprintf("%s/%s", s.Name, route), func(t *testing.T) {
				small, large := allocated(t, s, s.Unit/5, route), allocated(t, s, 2*s.Unit, route)
				if ratio := large / small; ratio > mostAllocated {
					t.Errorf("%d pieces allocate %.0f KB, ten times as many %.0f KB: %.1f times as much", s.Unit/5, small/1024, large/1024, ratio)
				}
			})
		}
	}
}

// allocated returns the bytes that a command allocates for a recording.
func allocated(t *testing.T, s scale.Shape, n int, route string) float64 {
	t.Helper()
	path, err := s.Write(t.TempDir(), n)
	if err != nil {
		t.Fatal(err)
	}
	args := append(strings.Fields(route), "--window", "8k", path)
	work := func() {
		var errs strings.Builder
		code := run(t.Context(), args, console.Streams{In: strings.NewReader(""), Out: io.Discard, Errs: &errs})
		if code != 0 && code != exitCodes["over_budget"] {
			t.Fatalf("precis %s: exit code %d: %s", strings.Join(args, " "), code, errs.String())
		}
	}
	work() // tables that are made once
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work()
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc - before.TotalAlloc)
}
