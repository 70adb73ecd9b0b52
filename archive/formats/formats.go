// Package formats lists the recordings that precis can read. Start with [All].
package formats

import (
	"precis/archive"
	"precis/archive/aider"
	"precis/archive/claudecode"
	"precis/archive/cline"
	"precis/archive/codex"
	"precis/archive/copilot"
	"precis/archive/gemini"
	"precis/archive/hermes"
	"precis/archive/opencode"
	"precis/archive/openhands"
	"precis/archive/pi"
	"precis/archive/plain"
	"precis/archive/roo"
	"precis/archive/sweagent"
	"precis/archive/taubench"
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
