// Command guard measures the size, the language and the cost of the project, and compares each figure
// with its limit in limits.txt. It exits with code 1 when a figure is over its limit, and when a figure
// has no limit.
//
//	make guard                          print the figures; of single packages only those that differ from their limits
//	go run ./internal/guard -all        print every figure
//	go run ./internal/guard -dialect    print the comments that contain a phrase of dialect.txt
//	go run ./internal/guard -tighten    lower the limits to the current figures; none is raised
//
// It runs in the root folder of the module, builds the command with make, and runs the benchmarks with
// names that begin with BenchmarkGuard.
//
//precis:testonly
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

func main() {
	all := flag.Bool("all", false, "print every figure")
	dialect := flag.Bool("dialect", false,
		"print the comments that contain a phrase of dialect.txt, and do nothing else")
	tighten := flag.Bool("tighten", false, "lower the limits to the current figures")
	flag.Parse()
	if err := run(os.Stdout, *all, *dialect, *tighten); err != nil {
		fmt.Fprintln(os.Stderr, "guard: error:", err)
		os.Exit(1)
	}
}

// limitsFile is the path of the limits in the root folder.
const limitsFile = "internal/guard/limits.txt"

func run(out io.Writer, all, dialect, tighten bool) error {
	start := time.Now()
	src, err := readSource(".")
	if err != nil {
		return err
	}
	if dialect {
		_, err := fmt.Fprintln(out, strings.Join(src.dialect, "\n"))
		return err
	}
	text, err := os.ReadFile(limitsFile)
	if err != nil {
		return err
	}
	limits, err := parseLimits(string(text))
	if err != nil {
		return err
	}
	figures, err := measure(src)
	if err != nil {
		return err
	}
	problems := append(src.wrongMarks(), compare(figures, limits)...)
	if tighten {
		if err := os.WriteFile(limitsFile, []byte(tightened(string(text), limits, figures)),
			0o644); err != nil {
			return err
		}
	}
	if err := report(out, figures, limits, all); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nmeasured in %d s\n", int(time.Since(start).Seconds()))
	if len(problems) > 0 {
		return errors.New(strings.Join(problems, "\nguard: error: "))
	}
	return nil
}

// measure returns every figure: of the source, of the program and of the benchmarks.
func measure(src *source) ([]figure, error) {
	figures, err := src.figures()
	if err != nil {
		return nil, err
	}
	program, err := programFigures()
	if err != nil {
		return nil, err
	}
	cost, err := benchmarkFigures()
	return append(append(figures, program...), cost...), err
}

// report prints the figures beside their limits. Without all, it leaves out the counts of
// packages that are equal to their limits.
func report(out io.Writer, figures []figure, limits []limit, all bool) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "figure\tnow\tlimit\treason")
	hidden := 0
	for _, f := range figures {
		l, known := find(limits, f.name)
		if !all && f.ofPackage && known && f.now == l.value {
			hidden++
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", f.name, number(f.now), l, l.reason)
	}
	if hidden > 0 {
		fmt.Fprintf(w, "%d counts of packages\t\t\tequal to their limits\n", hidden)
	}
	return w.Flush()
}

func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
