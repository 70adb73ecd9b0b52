package formats

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/opencode/database"
	"github.com/precis-dev/precis/archive/roo"
)

// EventFolder is the folder with the events of an OpenHands conversation, one file per event.
const EventFolder = "events"

// Load reads the recording at path: a file, a task folder of Roo Code, Cline, Kilo or Zoo, a
// conversation folder of OpenHands (its events become lines), or a session in a database of
// opencode, named opencode.db#ID. For a session of Claude Code that was forked after a compaction,
// the lines of its parent come first. The error names the path; it is not_found for a missing file.
func Load(path string) (archive.Source, error) {
	src, err := LoadAlone(path)
	if err != nil {
		return src, err
	}
	return withParent(src, mostForks), nil
}

// LoadAlone is [Load] without lines from other recordings.
func LoadAlone(path string) (archive.Source, error) {
	if _, _, ok := database.Split(path); ok {
		return database.Load(context.Background(), path)
	}
	for _, dir := range []string{path, filepath.Join(path, EventFolder)} {
		if IsEventFolder(dir) {
			return loadEvents(path, dir)
		}
	}
	return archive.Load(path, roo.HistoryNames...)
}

// NameOf returns the name of a recording by its path: its file or folder without extension, or its
// ID in a database.
func NameOf(path string) string {
	if _, id, ok := database.Split(path); ok {
		return id
	}
	base := filepath.Base(path)
	if short := strings.TrimSuffix(base, filepath.Ext(base)); short != "" {
		return short
	}
	return base
}

// IsEventFolder reports whether a folder has the events of an OpenHands conversation:
// event-00000-ID.json, or 0.json before version 1.
func IsEventFolder(dir string) bool {
	for _, pattern := range []string{"event-00000-*.json", "0.json"} {
		if found, err := filepath.Glob(filepath.Join(quoteMeta(dir), pattern)); err == nil && len(found) > 0 {
			return true
		}
	}
	return false
}

// quoteMeta returns a glob pattern that matches only path.
func quoteMeta(path string) string {
	return strings.NewReplacer(`[`, `\[`, `*`, `\*`, `?`, `\?`).Replace(path)
}

// loadEvents joins the event files in the order of their numbers.
func loadEvents(path, dir string) (archive.Source, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return archive.Source{}, &precis.Error{Code: precis.CodeInternal, Op: "open", Place: dir,
			Err: errors.Unwrap(err)}
	}
	type event struct {
		number int
		name   string
	}
	var events []event
	for _, e := range entries {
		if n, ok := eventNumber(e.Name()); ok && e.Type().IsRegular() {
			events = append(events, event{n, e.Name()})
		}
	}
	slices.SortFunc(events, func(a, b event) int {
		if a.number != b.number {
			return a.number - b.number
		}
		return strings.Compare(a.name, b.name)
	})
	var all bytes.Buffer
	for _, e := range events {
		data, err := archive.ReadFile(filepath.Join(dir, e.name))
		if err != nil {
			return archive.Source{}, err
		}
		if err := json.Compact(&all, data); err != nil { // the reader reports the malformed line
			all.Write(bytes.ReplaceAll(data, []byte("\n"), []byte(" ")))
		}
		all.WriteByte('\n')
		if all.Len() > archive.MaxBytes {
			return archive.Source{}, &precis.Error{Code: precis.CodeInvalid, Op: "read", Place: dir,
				Err: fmt.Errorf("its events have more than %d bytes", archive.MaxBytes)}
		}
	}
	return archive.Source{Path: path, Data: all.Bytes()}, nil
}

// eventNumber reads the number in event-00012-ID.json and in 12.json.
func eventNumber(name string) (int, bool) {
	rest, ok := strings.CutSuffix(name, ".json")
	if !ok {
		return 0, false
	}
	rest = strings.TrimPrefix(rest, "event-")
	digits, _, _ := strings.Cut(rest, "-")
	n, err := strconv.Atoi(digits)
	return n, err == nil && n >= 0
}
