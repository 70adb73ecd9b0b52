// Package formats lists the recordings that precis can read. Start with [All].
package formats

import (
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/aider"
	"github.com/precis-dev/precis/archive/claudecode"
	"github.com/precis-dev/precis/archive/cline"
	"github.com/precis-dev/precis/archive/codex"
	"github.com/precis-dev/precis/archive/copilot"
	"github.com/precis-dev/precis/archive/gemini"
	"github.com/precis-dev/precis/archive/hermes"
	"github.com/precis-dev/precis/archive/opencode"
	"github.com/precis-dev/precis/archive/openhands"
	"github.com/precis-dev/precis/archive/pi"
	"github.com/precis-dev/precis/archive/plain"
	"github.com/precis-dev/precis/archive/roo"
	"github.com/precis-dev/precis/archive/sweagent"
	"github.com/precis-dev/precis/archive/taubench"
)

// All returns every format, the most specific first; plain JSON, which matches most files, is last.
func All() []archive.Format {
	return []archive.Format{
		roo.Format{}, gemini.Qwen{}, claudecode.Format{}, codex.Format{}, pi.Format{},
		opencode.Format{}, cline.Format{}, copilot.Format{}, copilot.CLI{}, gemini.Format{},
		openhands.Format{},
		sweagent.Format{}, sweagent.Mini{}, taubench.Format{}, hermes.Format{}, aider.Format{},
		plain.Format{},
	}
}
