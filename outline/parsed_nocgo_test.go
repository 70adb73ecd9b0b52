//go:build !cgo

package outline

// parsed are the samples that a parser reads in this build.
var parsed = map[string]bool{"go": true, "markdown": true}
