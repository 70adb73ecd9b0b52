package jobs

import (
	"log/slog"
	"os"

	"precis/internal/outlineworker"
	"precis/internal/treesitter"
	"precis/outline"
)

// OutlineWorker is the command that this program starts itself with.
const OutlineWorker = "outline-worker"

// Parser returns what parses files for outlines: in a build with the
// grammars of tree-sitter a process of its own, for they are not safe against
// hostile text. It is nil in all others, where files are read by lines.
func (o *Opener) Parser(log *slog.Logger) outline.Parser {
	if !treesitter.Available {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	if o.worker == nil {
		o.worker = outlineworker.New(outlineworker.Options{Command: []string{self, OutlineWorker}, Logger: log})
		o.OnClose(o.worker.Close)
	}
	return o.worker
}
