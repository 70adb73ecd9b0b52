// Package command answers: what does each subcommand of precis work with? Its [Tools] are the
// console, the opener of recordings and the printer of reports; [Takes] checks its arguments.
package command

import (
	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/cmd/internal/jobs"
	"github.com/precis-dev/precis/cmd/internal/reports"
)

// Tools are shared by the subcommands.
type Tools struct {
	*console.Console
	Jobs    *jobs.Opener
	Report  *reports.Printer
	Version string // of this program
}

// New returns the tools for the streams of a process and the version of precis.
func New(s console.Streams, version string) *Tools {
	c := console.New(s)
	return &Tools{Console: c, Jobs: jobs.NewOpener(c), Report: reports.New(c), Version: version}
}
