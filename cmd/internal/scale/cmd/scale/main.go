//go:build linux || darwin

// Scale runs the precis program over recordings of every shape in cmd/internal/scale, each ten
// times as large as the one before, and prints what processor time and memory it took. It
// fails when ten times as much takes over fifteen times as long, or when memory grows faster
// than it may.
//
//	go run ./cmd/internal/scale/cmd/scale -precis dist/precis [-sizes 3] [-shape NAME] [-route NAME]
//
//precis:testonly
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/precis-dev/precis/cmd/internal/scale"
)

// The bounds. Memory may be so many times the recording, or so many bytes for each message,
// block and fact, whichever is more, over what the program takes for the smallest recording
// and what its heap grows by at least: a message of ten bytes takes more than two hundred in
// memory as it is.
const (
	mostTime  = 15.0
	mostBytes = 20
	perPiece  = 2000
	growth    = 16 << 20
	// Less time is startup, not work.
	leastTime = 150 * time.Millisecond
)

// routes are the commands that are measured, without the name of the recording.
var routes = [][]string{
	{"inspect"},
	{"view", "--json"},
	{"digest"},
	{"condense", "--dry-run"},
}

func main() {
	program := flag.String("precis", "dist/precis", "the `PROGRAM`")
	sizes := flag.Int("sizes", 3, "how many `SIZES`, each ten times the one before")
	shape := flag.String("shape", "", "only shapes whose name has this `TEXT` in it")
	route := flag.String("route", "", "only this `COMMAND`")
	flag.Parse()
	ok, err := measure(os.Stdout, *program, *sizes, *shape, *route)
	if err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

func measure(out io.Writer, program string, sizes int, shape, route string) (ok bool, err error) {
	dir, err := os.MkdirTemp("", "scale")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "shape\tn\tKB\troute\tseconds\ttimes\tMB\tof size\t\t")
	ok = true
	for _, s := range scale.Shapes() {
		if !strings.Contains(s.Name, shape) {
			continue
		}
		for _, args := range routes {
			if route != "" && args[0] != route {
				continue
			}
			good, err := climb(w, program, dir, s, args, sizes)
			if err != nil {
				return false, err
			}
			ok = ok && good
			w.Flush()
		}
	}
	return ok, w.Flush()
}

// climb measures one command on one shape in all sizes.
func climb(w io.Writer, program, dir string, s scale.Shape, args []string, sizes int) (ok bool, err error) {
	var before, base cost
	ok = true
	for i, n := 0, s.Unit; i < sizes; i, n = i+1, n*10 {
		path, err := s.Write(dir, n)
		if err != nil {
			return false, err
		}
		debug.FreeOSMemory() // a process begins with the memory of the one that starts it
		info, err := os.Stat(path)
		if err != nil {
			return false, err
		}
		c, err := run(program, dir, append(args[:len(args):len(args)], "--window", "8k", path))
		if err != nil {
			return false, fmt.Errorf("%s, %d: %w", s.Name, n, err)
		}
		times, wrong := "", ""
		if i == 0 {
			base = c
		} else {
			ratio := float64(c.time) / float64(max(before.time, leastTime))
			times = fmt.Sprintf("%.1f", ratio)
			if ratio > mostTime {
				wrong = "time"
			}
			if c.memory-base.memory-growth > max(mostBytes*info.Size(), int64(perPiece*s.Count(n))) {
				wrong = strings.TrimSpace(wrong + " memory")
			}
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%.2f\t%s\t%d\t%.0f\t%s\t\n", s.Name, n, info.Size()>>10, args[0],
			c.time.Seconds(), times, c.memory>>20,
			float64(max(c.memory-base.memory, 0))/float64(info.Size()), wrong)
		before, ok = c, ok && wrong == ""
	}
	return ok, nil
}

// cost is what a run took: processor time, which others on the machine do not add to, and
// memory in bytes.
type cost struct {
	time   time.Duration
	memory int64
}

// run runs the program with dir as its home.
func run(program, dir string, args []string) (cost, error) {
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir)
	var said strings.Builder
	cmd.Stderr = &said
	err := cmd.Run()
	exit, failed := errors.AsType[*exec.ExitError](err)
	if err != nil && (!failed || exit.ExitCode() != 5) {
		// 5: does not fit whatever is cut, which is work, too
		return cost{}, fmt.Errorf("%s: %w: %.300s", strings.Join(args, " "), err, said.String())
	}
	c := cost{time: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		if c.memory = int64(usage.Maxrss); runtime.GOOS == "linux" {
			c.memory <<= 10 // it is in KB there
		}
	}
	return c, nil
}
