// Package transfer moves what a store holds into another one, of whatever kind,
// or into a file: [Export] writes it, [Import] reads it.
//
// The format is JSON lines. The first names the format and its version, the last
// says how much there was, so that a file that was cut off is known. In between,
// for each scope: its name, the messages of its conversations, the edits, the
// records, the ledger; before all, the calibrations. A message is in precis's own
// stored form and comes back byte for byte. A record comes after all that belongs
// to its conversation, so what was imported before an error is whole.
//
// Left out is what a store cannot list: summaries kept for reuse, which are then
// made again when they are needed, and messages that belong to no conversation of
// the catalog. Leases are not moved.
package transfer

import (
	"encoding/json"
	"unicode/utf8"

	"precis"
	"precis/store"
)

const (
	formatName    = "precis-store"
	formatVersion = 1
)

// Counts says how much was written or read. What was there already counts as
// well.
type Counts struct {
	Scopes        int `json:"scopes"`
	Conversations int `json:"conversations"`
	Messages      int `json:"messages"`
	Edits         int `json:"edits"`
	Entries       int `json:"entries"` // of ledgers
	Calibrations  int `json:"calibrations"`
}

// line is one line of a file; one field is set.
type line struct {
	Format      string              `json:"format,omitempty"` // the first line
	Version     int                 `json:"version,omitempty"`
	Calibration *calibrationLine    `json:"calibration,omitempty"`
	Scope       *exact              `json:"scope,omitempty"` // what follows belongs to this owner
	Message     *messageLine        `json:"message,omitempty"`
	Edit        *editLine           `json:"edit,omitempty"`
	Record      *recordLine         `json:"record,omitempty"`
	Entry       *precis.LedgerEntry `json:"entry,omitempty"`
	End         *Counts             `json:"end,omitempty"` // the last line
}

type calibrationLine struct {
	Model exact  `json:"model"`
	State []byte `json:"state"`
}

// messageLine is a message with the node before and after it.
type messageLine struct {
	Parent precis.Fingerprint `json:"parent"`
	Node   precis.Fingerprint `json:"node"`
	Body   precis.Message     `json:"body"`
}

// editLine is an edit with the newest one before it on its path.
type editLine struct {
	After string      `json:"after,omitempty"`
	Edit  precis.Edit `json:"edit"`
}

type recordLine struct {
	ID     exact        `json:"id"`
	Record store.Record `json:"record"`
}

// exact is a string that may be no UTF-8, which a JSON string cannot hold.
type exact string

// MarshalJSON writes a string, or an object with base64.
func (s exact) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(s)) {
		return json.Marshal(string(s))
	}
	return json.Marshal(map[string][]byte{"base64": []byte(s)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *exact) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		var v struct{ Base64 []byte }
		err := json.Unmarshal(data, &v)
		*s = exact(v.Base64)
		return err
	}
	return json.Unmarshal(data, (*string)(s))
}
