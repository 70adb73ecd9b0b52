package main

import (
	"precis/cmd/internal/console"
	"precis/cmd/internal/jobs"
	"precis/cmd/internal/reports"
)

// tools are shared by the subcommands.
type tools struct {
	*console.Console
	jobs    *jobs.Opener
	report  *reports.Printer
	version string // of this program
}

func newTools(s console.Streams, version string) *tools {
	c := console.New(s)
	return &tools{Console: c, jobs: jobs.NewOpener(c), report: reports.New(c), version: version}
}
