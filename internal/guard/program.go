package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// benchmarks are the packages with benchmarks named BenchmarkGuard…, and the flags of each. The number
// of iterations is fixed: the first ones allocate buffers that later ones reuse. On a busy machine the
// gateway saves more often between two turns, so the least of several runs counts: it varies by .1 %.
var benchmarks = [][]string{
	{"./gateway", "-benchtime", "50x", "-cpu", "1", "-count", "6"},
	{"./preset", "-benchtime", "10x", "-cpu", "1"},
	{"./conformance", "-benchtime", "1x"},
}

// programFigures builds the command and measures it.
func programFigures() ([]figure, error) {
	const program = "dist/precis"
	if _, err := command("make", "build"); err != nil {
		return nil, err
	}
	file, err := os.Stat(program)
	if err != nil {
		return nil, err
	}
	figures := []figure{{name: "program bytes", now: float64(file.Size())}}
	if runtime.GOOS != "linux" {
		return figures, nil
	}
	text, err := command("go", "run", "./internal/peak", program, "version")
	if err != nil {
		return nil, err
	}
	kb, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
	return append(figures, figure{name: "resident KB of precis version", now: kb}), err
}

// benchmarkFigures runs the benchmarks.
func benchmarkFigures() (all []figure, err error) {
	for _, b := range benchmarks {
		out, err := command("go", append([]string{"test", "-run", "^$", "-bench", "^BenchmarkGuard",
			"-benchmem"}, b...)...)
		if err != nil {
			return nil, err
		}
		all = append(all, parseBenchmarks(out)...)
	}
	return all, nil
}

// processors is the end of the name of a benchmark that ran on more than one.
var processors = regexp.MustCompile(`-\d+$`)

// parseBenchmarks returns the metrics in the output of go test, each named after its benchmark and
// its unit: "Turn B/op" of BenchmarkGuardTurn. Of several runs it returns the least value.
func parseBenchmarks(out []byte) (all []figure) {
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		fields := strings.Fields(s.Text())
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "BenchmarkGuard") {
			continue
		}
		name := processors.ReplaceAllString(strings.TrimPrefix(fields[0], "BenchmarkGuard"), "")
		for i := 2; i+1 < len(fields); i += 2 {
			now, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				break
			}
			unit := fields[i+1]
			f := figure{name: name + " " + unit, now: now,
				shown: unit == "ns/op" || unit == "allocs/op" || unit == "MB/s"}
			if at := slices.IndexFunc(all, func(g figure) bool { return g.name == f.name }); at >= 0 {
				all[at].now = min(all[at].now, now)
			} else {
				all = append(all, f)
			}
		}
	}
	return all
}

// command returns what a command writes to its standard output. The error contains both streams.
func command(name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s%s", cmd, err, errs.Bytes(), out.Bytes())
	}
	return out.Bytes(), nil
}
