// Package transfer moves what a store holds into another one, of whatever kind,
// or into a file: [Export] writes it, [Import] reads it.
//
// The format is JSON lines. The first names the format and its version, the last
// says how much there was, so that a file that was cut off is known. In between,
// for each scope: its name, the messages of its conversations, the edits, the
// records, the ledger; before all, the calibrations. A message is in precis's own
// stored form and comes back byte for byte. A record comes after all that belongs
// to its conversation, so what was imported before an error is whole. Each line ends
// with a sum of what is before it, so that a changed byte is known wherever it stands; in
// exports of before 2026-11-27 no line has one.
//
// Left out is what a store cannot list: summaries kept for reuse, which are then
// made again when they are needed, and messages that belong to no conversation of
// the catalog. Leases are not moved.
package transfer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
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

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A line ends with its sum, in hexadecimal: sumBegins, eight digits, sumEnds.
const (
	sumBegins = `,"sum":"`
	sumEnds   = `"}`
	sumLength = len(sumBegins) + 8 + len(sumEnds)
)

// encode returns a line with its sum and a line feed.
func encode(l line) ([]byte, error) {
	data, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	data = data[:len(data)-1] // without the closing brace
	return fmt.Appendf(data, "%s%08x%s\n", sumBegins, crc32.Checksum(data, castagnoli), sumEnds), nil
}

// sums knows of one export whether its lines have sums.
type sums bool

// decode reads line n, the first is 1. It is whole if its sum is of what is before it, or if the first line has none.
func (s *sums) decode(n int, data []byte) (l line, whole bool, err error) {
	data = bytes.TrimSpace(data)
	if err := json.Unmarshal(data, &l); err != nil {
		return l, false, err
	}
	end := len(data) - sumLength
	if end < 0 || !bytes.HasPrefix(data[end:], []byte(sumBegins)) || !bytes.HasSuffix(data, []byte(sumEnds)) {
		return l, !bool(*s), nil
	}
	*s = *s || n == 1
	sum := data[end+len(sumBegins) : len(data)-len(sumEnds)]
	return l, string(sum) == fmt.Sprintf("%08x", crc32.Checksum(data[:end], castagnoli)), nil
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
