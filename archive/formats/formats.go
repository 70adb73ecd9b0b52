// Package formats lists the recordings precis reads. Start with [All].
package formats

import (
	"precis/archive"
	"precis/archive/claudecode"
	"precis/archive/codex"
	"precis/archive/pi"
	"precis/archive/plain"
	"precis/archive/roo"
)

// All returns every format, the most particular first; plain JSON, which
// recognizes least, is last.
func All() []archive.Format {
	return []archive.Format{
		roo.Format{}, claudecode.Format{}, codex.Format{}, pi.Format{},
		plain.Format{},
	}
}
