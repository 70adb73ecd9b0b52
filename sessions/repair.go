package sessions

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"unicode/utf16"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/formats"
	"github.com/precis-dev/precis/archive/opencode/database"
	"github.com/precis-dev/precis/archive/roo"
	"github.com/precis-dev/precis/internal/atomicfile"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// BackupSuffix is appended to the name of the copy that [Repair] makes before it changes a
// recording.
const BackupSuffix = roo.BackupSuffix

// Repaired reports the changes that [Repair] made or would make.
type Repaired struct {
	Path   string   `json:"path"`
	Backup string   `json:"backup,omitempty"` // the copy of the original; "": no file was written
	Done   []string `json:"done"`             // one description per change; empty: no change is needed
	Left   []Fault  `json:"left"`             // faults that cannot be mended
}

// Repair mends a recording: its encoding, lines with a wrong escape or with several objects,
// truncated lines, and tags with a missing target. A copy of the original is kept next to it. With
// dry, Repair only reports its changes. The error is [precis.CodeConflict] if the copy exists
// already or the recording changes meanwhile.
func Repair(ctx context.Context, path string, dry bool) (Repaired, error) {
	if _, _, ok := database.Split(path); ok {
		return Repaired{}, &precis.Error{Code: precis.CodeInvalid, Op: "repair", Place: path,
			Err: errors.New("it is in a database of its program")}
	}
	src, err := formats.LoadAlone(path)
	if err != nil {
		return Repaired{}, err
	}
	out := Repaired{Path: src.Path, Done: []string{}, Left: []Fault{}}
	if info, err := os.Stat(src.Path); err != nil || !info.Mode().IsRegular() {
		return out, &precis.Error{Code: precis.CodeInvalid, Op: "repair", Place: path,
			Err: errors.New("it is a folder of many files")}
	}
	data, done := mend(src.Data, roo.IsTask(src.Path))
	out.Done = append(out.Done, done...)
	for _, f := range CheckFile(path) {
		if !f.Mendable {
			out.Left = append(out.Left, f)
		}
	}
	if len(done) == 0 || dry {
		return out, nil
	}
	if _, err := archive.Read(archive.Source{Path: src.Path, Data: data}, formats.All()); err != nil {
		return out, precis.Errorf(precis.CodeInvalid, "repair", "%w", err)
	}
	out.Backup = src.Path + BackupSuffix
	return out, write(ctx, src, data, out.Backup)
}

// write replaces a recording and keeps a copy of the original.
func write(ctx context.Context, src archive.Source, data []byte, backup string) error {
	const op = "repair"
	if ctx.Err() != nil {
		return precis.Errorf(precis.CodeCanceled, op, "%w", context.Cause(ctx))
	}
	if old, err := os.ReadFile(backup); err == nil && !bytes.Equal(old, src.Data) {
		return &precis.Error{Code: precis.CodeConflict, Op: op, Place: backup,
			Err: errors.New("it keeps another state of the recording"), Hint: "move it away"}
	}
	if err := atomicfile.WriteAs(backup, src.Data, src.Path); err != nil {
		return precis.Errorf(precis.CodeInternal, op, "%w", err)
	}
	if now, err := archive.ReadFile(src.Path); err != nil || !bytes.Equal(now, src.Data) {
		return &precis.Error{Code: precis.CodeConflict, Op: op, Place: src.Path,
			Err: errors.New("it was changed since it was read"), Hint: "try again"}
	}
	if err := atomicfile.Write(src.Path, data); err != nil {
		return precis.Errorf(precis.CodeInternal, op, "%w", err)
	}
	return nil
}

// mend returns the mended recording and a description of each change.
func mend(data []byte, task bool) ([]byte, []string) {
	var done []string
	if wide, ok := fromUTF16(data); ok {
		data, done = wide, append(done, "from UTF-16 to UTF-8")
	}
	if rest, ok := bytes.CutPrefix(data, utf8Mark); ok {
		data, done = rest, append(done, "a byte order mark is gone")
	}
	if valid := bytes.ToValidUTF8(data, []byte("\ufffd")); len(valid) != len(data) ||
		!bytes.Equal(valid, data) {
		data, done = valid, append(done, "bytes that are no UTF-8 became U+FFFD")
	}
	if rest, n := withoutNULs(data); n > 0 {
		data, done = rest, append(done, fmt.Sprintf("%d NUL bytes, as a crash leaves them, are gone", n))
	}
	if lines, what := mendLines(data); lines != nil {
		data, done = lines, append(done, what...)
	}
	if task {
		if h, err := roo.ParseHistory(data); err == nil {
			before := bytes.Clone(h.Bytes())
			if h.Clean(); !bytes.Equal(before, h.Bytes()) {
				data, done = bytes.Clone(h.Bytes()), append(done, "tags that name nothing are gone")
			}
		}
	}
	return data, done
}

// withoutNULs removes NUL bytes and the lines that have only these, and returns the number of bytes
// removed. JSON contains no NULs; file systems leave them when a crash loses written data.
func withoutNULs(data []byte) ([]byte, int) {
	n := bytes.Count(data, []byte{0})
	if n == 0 {
		return data, 0
	}
	out := make([]byte, 0, len(data)-n)
	for line := range bytes.Lines(data) {
		rest := bytes.ReplaceAll(line, []byte{0}, nil)
		if len(rest) < len(line) && len(bytes.TrimSpace(rest)) == 0 {
			continue
		}
		out = append(out, rest...)
	}
	return out, n
}

// fromUTF16 decodes text that begins with a byte order mark of UTF-16.
func fromUTF16(data []byte) ([]byte, bool) {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	default:
		return nil, false
	}
	units := make([]uint16, (len(data)-2)/2)
	for i := range units {
		units[i] = order.Uint16(data[2+2*i:])
	}
	return []byte(string(utf16.Decode(units))), true
}

// mendLines mends the malformed lines of a recording of JSON lines. It returns nil if no line can
// be mended or the recording is a single document.
func mendLines(data []byte) (mended []byte, done []string) {
	if kind := jsonspan.Kind(data); kind != '{' || jsonspan.Valid(data) == nil ||
		bytes.Count(data, []byte("\n")) == 0 {
		return nil, nil
	}
	m := lineMender{begins: archive.RecordPrefixesOf(data)}
	m.out.Grow(len(data))
	for line := range bytes.Lines(data) {
		raw := bytes.TrimSpace(line)
		if len(raw) == 0 || raw[0] != '{' || jsonspan.Valid(raw) == nil ||
			!m.line(raw, !bytes.HasSuffix(line, []byte("\n"))) {
			m.out.Write(line)
		}
	}
	for _, d := range []struct {
		n    int
		what string
	}{{m.split, "lines of several objects were split"},
		{m.escaped, "lines with wrong escapes or numbers were mended"},
		{m.torn, "lines that were cut off have what was written behind them on a line of its own"},
		{m.cut, "last line, which was cut off, is gone"}} {
		if d.n > 0 {
			done = append(done, fmt.Sprintf("%d %s", d.n, d.what))
		}
	}
	if len(done) == 0 {
		return nil, nil
	}
	return m.out.Bytes(), done
}

// lineMender writes mended lines.
type lineMender struct {
	out                       bytes.Buffer
	begins                    *archive.RecordPrefixes // known beginnings of lines in the file
	split, escaped, cut, torn int
}

// line mends a malformed line and reports success. Last says that the file ends with it.
func (m *lineMender) line(raw []byte, last bool) bool {
	objects, rest := objectsOf(raw)
	fixed := archive.MendJSON(rest)
	mendable := fixed != nil && jsonspan.Valid(fixed) == nil && jsonspan.Kind(fixed) == '{'
	if at := m.begins.LastRecordOffset(raw); !mendable && at >= len(raw)-len(rest) {
		for _, o := range append(objects, raw[at:]) {
			m.out.Write(o)
			m.out.WriteByte('\n')
		}
		m.torn++
		return true
	}
	if !mendable && !last && len(rest) > 0 {
		return false
	}
	if len(objects) > 1 || len(objects) == 1 && mendable {
		m.split++
	}
	for _, o := range objects {
		m.out.Write(o)
		m.out.WriteByte('\n')
	}
	switch {
	case mendable:
		m.out.Write(fixed)
		m.out.WriteByte('\n')
		m.escaped++
	case len(rest) > 0:
		m.cut++
	}
	return true
}

// objectsOf returns the objects at the beginning of a line, and the rest of it.
func objectsOf(raw []byte) (objects [][]byte, rest []byte) {
	end := 0
	for v, err := range jsonspan.Values(raw) {
		if err != nil || jsonspan.Kind(v.Raw) != '{' {
			break
		}
		objects, end = append(objects, v.Raw), v.Offset+len(v.Raw)
	}
	return objects, bytes.TrimSpace(raw[end:])
}
