package jobs

import (
	"log/slog"
	"os"
	"path/filepath"

	"github.com/precis-dev/precis/internal/outlineworker"
	"github.com/precis-dev/precis/outline"
)

// outlineProgram is a program that parses source files with the grammars of tree-sitter, see lab/cmd.
const outlineProgram = "precis-outline-worker"

// Parser returns a parser for outlines that runs [outlineProgram], or nil if that is not in the
// folder of this program. Without a parser, files are outlined by lines.
func (o *Opener) Parser(log *slog.Logger) outline.Parser {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	program := filepath.Join(filepath.Dir(self), outlineProgram+filepath.Ext(self))
	if _, err := os.Stat(program); err != nil {
		return nil
	}
	if o.worker == nil {
		o.worker = outlineworker.New(outlineworker.Options{Command: []string{program}, Logger: log})
		o.OnClose(o.worker.Close)
	}
	return o.worker
}
