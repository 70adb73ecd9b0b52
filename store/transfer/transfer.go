// Package transfer copies the data of a store into another store of any kind, or into a file:
// [Export] writes it, [Import] reads it.
//
// The format is JSON lines. The first names the format and its version; the last has the counts, so
// that a truncated file is detected. In between come the calibrations and then, for each scope, its
// name, the messages of its conversations, the edits, the records, and the ledger. A message has
// precis's own stored form and comes back byte for byte. A record comes after all data of its
// conversation, so everything imported before an error is complete. Each line ends with a checksum
// of the text before it, which detects changed bytes; exports from before 2026-11-27 have no
// checksums.
//
// Data that a store cannot list is not exported: cached summaries, which are made again when
// needed, and messages that belong to no conversation of the catalog. Leases are not exported
// either.
package transfer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"unicode/utf8"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

const (
	formatName    = "precis-store"
	formatVersion = 1
)

// Counts are the amounts of data written or read. Data that existed already is included.
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
	Scope       *exact              `json:"scope,omitempty"` // the following lines belong to this owner
	Message     *messageLine        `json:"message,omitempty"`
	Edit        *editLine           `json:"edit,omitempty"`
	Record      *recordLine         `json:"record,omitempty"`
	Entry       *precis.LedgerEntry `json:"entry,omitempty"`
	End         *Counts             `json:"end,omitempty"` // the last line
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A line ends with its checksum in hexadecimal: sumBegins, eight digits, sumEnds.
const (
	sumBegins = `,"sum":"`
	sumEnds   = `"}`
	sumLength = len(sumBegins) + 8 + len(sumEnds)
)

// encode returns a line with its checksum and a line feed.
func encode(l line) ([]byte, error) {
	data, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	data = data[:len(data)-1] // without the closing brace
	return fmt.Appendf(data, "%s%08x%s\n", sumBegins, crc32.Checksum(data, castagnoli), sumEnds), nil
}

// sums records whether the lines of an export have checksums.
type sums bool

// decode reads line n, counted from 1. It is whole if its checksum matches, or if the export has
// none.
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

// exact is a string that may be invalid UTF-8, which a JSON string cannot hold.
type exact string

// MarshalJSON writes a string, or an object with base64.
func (s exact) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(s)) {
		return json.Marshal(string(s))
	}
	return json.Marshal(map[string][]byte{"base64": []byte(s)})
}

// UnmarshalJSON reads the output of MarshalJSON.
func (s *exact) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		var v struct{ Base64 []byte }
		err := json.Unmarshal(data, &v)
		*s = exact(v.Base64)
		return err
	}
	return json.Unmarshal(data, (*string)(s))
}
