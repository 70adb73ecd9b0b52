//go:build cgo && treesitter

// Command precis-outline-worker parses source files with the grammars of tree-sitter for precis, which
// starts it when it lies in the folder of the precis program. See package
// precis/internal/outlineworker.
package main

import (
	"fmt"
	"os"

	"github.com/precis-dev/precis/internal/outlineworker"
	"github.com/precis-dev/precis/lab/treesitter"
)

func main() {
	err := outlineworker.Limit()
	if err == nil {
		err = outlineworker.Serve(os.Stdin, os.Stdout, treesitter.Parser{})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "precis-outline-worker:", err)
		os.Exit(1)
	}
}
