//go:build cgo

package outline

// parsed are the samples that a parser reads in this build.
var parsed = map[string]bool{
	"go": true, "python": true, "typescript": true, "tsx": true, "javascript": true, "rust": true, "java": true, "c": true, "cpp": true,
	"csharp": true, "ruby": true, "php": true, "bash": true, "kotlin": true, "scala": true, "lua": true, "markdown": true,
}
