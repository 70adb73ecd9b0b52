package config

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/precis-dev/precis/internal/atomicfile"
)

// mostReported is the number of models with a reported window that is kept. One more replaces all
// of them.
const mostReported = 200

// reportedFile returns the path of the windows that agents reported; "" when the user has no cache
// folder.
func reportedFile() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "precis", "windows.json")
}

// reportedWindows returns the context windows that agents reported, in tokens by model. A missing
// or damaged file has none: the windows are reported again.
func reportedWindows() map[string]int {
	data, err := os.ReadFile(reportedFile())
	out := map[string]int{}
	if err != nil || json.Unmarshal(data, &out) != nil || out == nil { // null is JSON, too
		return map[string]int{}
	}
	return out
}

// ReportWindow keeps the context window, in tokens, that an agent reports for a model.
// [Config.Catalog] uses it if the catalog does not have the model. An empty model or a window of 0
// is not kept. The error is [precis.CodeInternal] when the file cannot be written.
func ReportWindow(model string, tokens int) error {
	path, known := reportedFile(), reportedWindows()
	if path == "" || model == "" || tokens <= 0 || known[model] == tokens {
		return nil
	}
	if len(known) >= mostReported {
		clear(known)
	}
	known[model] = tokens
	data, err := json.Marshal(known)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(path, data)
}
