// Package roo reads and writes the task folders of Roo Code, Cline and Zoo Code. Start with
// [OpenTask]; [Format] reads without writing. Roo hides messages by tags in
// api_conversation_history.json. precis turns these tags into edits and its edits into tags, so a
// task condensed by precis opens, displays and rewinds in Roo, and vice versa. Properties that
// tags cannot express are kept in a sidecar file, [SidecarName]. Cline has no tags; its hidden
// messages are one range, see [StateName].
//
// Writes take Roo's own lock, replace whole files atomically, back up the former content next to
// them, and preserve all unrelated bytes.
//
// The described behavior of Roo is from Roo Code 3.52.1.
package roo

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// The files of a task folder.
const (
	HistoryName       = "api_conversation_history.json"
	LegacyHistoryName = "claude_messages.json" // of old versions
	UIName            = "ui_messages.json"
	MetadataName      = "task_metadata.json"
	ItemName          = "history_item.json"
	SidecarName       = "precis_edits.json"
	OutputsName       = "command-output"
)

// HistoryNames are the names a task's history may have, the current one first.
var HistoryNames = []string{HistoryName, LegacyHistoryName}

// Format reads a task's history together with the other files of its folder.
type Format struct{}

// Name returns "roo".
func (Format) Name() string { return "roo" }

// Detect goes by the file's name, or by the tags and times that only these
// programs store.
func (Format) Detect(name string, data []byte) bool {
	if slices.Contains(HistoryNames, name) {
		return true
	}
	if head := bytes.TrimLeft(data, " \t\r\n"); len(head) == 0 || head[0] != '[' {
		return false
	}
	n := 0
	for span, err := range jsonspan.Array(data) {
		if err != nil || jsonspan.Kind(span.Raw) != '{' {
			return false
		}
		if e := scanEntry(span.Raw); e.hasTS && (e.role == "user" || e.role == "assistant") {
			return true
		}
		if n++; n == 3 {
			break
		}
	}
	return false
}

// Read reads the history in src.Data and the other files of its folder.
func (Format) Read(src archive.Source) (*archive.Recording, error) { return new(Task).read(src) }

func (t *Task) read(src archive.Source) (rec *archive.Recording, err error) {
	t.Path = src.Path
	data := src.Data
	if len(t.onDisk) > len(data) {
		data = t.onDisk // with the byte order mark, which stays
	}
	if t.History, err = ParseHistory(data); err != nil {
		return nil, err
	}
	rec = &archive.Recording{}
	if IsTask(src.Path) {
		t.readSiblings(rec)
		t.unpatch(rec)
	}
	if rec.Conversation, err = t.conversation(rec); err == nil {
		t.origin(rec)
	}
	return rec, err
}

// FileInContext is one file that Roo has recorded as read, edited or mentioned.
type FileInContext struct {
	Path   string  `json:"path"`
	State  string  `json:"record_state"`  // active or stale
	Source string  `json:"record_source"` // read_tool, user_edited, roo_edited or file_mentioned
	Read   float64 `json:"roo_read_date"` // in milliseconds; 0: never
	Edited float64 `json:"roo_edit_date"`
}

// item is the part of history_item.json that precis reads.
type item struct {
	ID        string  `json:"id"`
	Task      string  `json:"task"`
	Mode      string  `json:"mode"`
	Parent    string  `json:"parentTaskId"`
	Workspace string  `json:"workspace"`
	Status    string  `json:"status"`
	In        int     `json:"tokensIn"`
	Out       int     `json:"tokensOut"`
	Reads     int     `json:"cacheReads"`
	Writes    int     `json:"cacheWrites"`
	Cost      float64 `json:"totalCost"`
}

// readSiblings reads the other files of the folder. They are extras: one that is
// missing is left out, one that cannot be read is a warning.
func (t *Task) readSiblings(rec *archive.Recording) {
	read := func(name string, use func([]byte) error) {
		data, err := archive.ReadFile(filepath.Join(t.dir(), name))
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err == nil {
			err = use(data)
		}
		if err != nil {
			rec.Warn(name, "left out: %v", err)
		}
	}
	read(UIName, func(data []byte) (err error) {
		t.UI, err = ParseUI(data)
		return err
	})
	read(MetadataName, func(data []byte) error {
		var meta struct {
			Files []FileInContext `json:"files_in_context"`
		}
		err := json.Unmarshal(data, &meta)
		t.Files = meta.Files
		return err
	})
	read(ItemName, func(data []byte) error { return json.Unmarshal(data, &t.item) })
	read(SidecarName, func(data []byte) error {
		t.sidecarOnDisk = data
		return json.Unmarshal(data, &t.sidecar)
	})
}

func (t *Task) dir() string { return filepath.Dir(t.Path) }

// conversation assembles the conversation of the task.
func (t *Task) conversation(rec *archive.Recording) (*precis.Conversation, error) {
	r, err := t.History.read(t.UI)
	if err != nil {
		return nil, err
	}
	if t.IsCline() {
		t.clineCut(r, rec)
	}
	conv := &precis.Conversation{ID: t.item.ID, Title: t.item.Task, Transcript: r.transcript, Edits: r.edits}
	if conv.ID == "" {
		conv.ID = filepath.Base(t.dir())
	}
	t.sidecar.join(conv, rec)
	return conv, nil
}
