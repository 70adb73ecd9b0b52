//go:build cgo && treesitter

package main

import (
	"slices"
	"testing"

	"precis/cmd/internal/console"
	"precis/cmd/internal/jobs"
	"precis/outline"
)

func TestThisProgramParsesForItself(t *testing.T) {
	o := jobs.NewOpener(console.New(console.Streams{}))
	defer o.Close()
	defs := outline.Parsed(o.Parser(nil), "A.java", "class A{int b(){return 1;}int c(){return 2;}}")
	if !slices.ContainsFunc(defs, func(d outline.Definition) bool { return d.Name == "c" }) { // which no reading by lines finds
		t.Errorf("%+v", defs)
	}
}
