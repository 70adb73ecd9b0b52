// Package archive reads recorded conversations of agents. Start with [Read] or [Open], given the
// formats of precis/archive/formats. A [Format] converts the bytes of one kind
// of recording into a conversation: its original messages, and, as edits, the condensations by the
// recording program. [Container] is precis's own file: the original bytes preceded by a list of
// edits, so that undo and rewind work for every format.
//
// This package never writes to a recording; archive/roo does, for its own format.
package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/compressed"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// Format reads one kind of recording. Implementations are stateless.
type Format interface {
	// Name is the format's name, e.g. "claude-code".
	Name() string
	// Detect reports whether data, or its first kilobytes, looks like this
	// format. Name is the file's base name; it may be empty.
	Detect(name string, data []byte) bool
	// Read turns a recording into conversations. It skips and reports malformed lines of line
	// formats. A malformed document is an error of code invalid that names the place.
	Read(src Source) (*Recording, error)
}

// Source holds a recording's bytes and its path.
type Source struct {
	Path string // as the user gave it; "" for bytes from elsewhere
	Data []byte // read-only; conversations share it
}

// Recording is the result of reading a [Source].
type Recording struct {
	Format       string
	Path         string
	Conversation *precis.Conversation
	Skipped      int       // malformed lines left out
	Warnings     []Warning // at most MaxWarnings, in order
	Ignored      int       // well-formed entries that do not belong to a conversation
	Origin       Origin
}

// MaxWarnings bounds [Recording.Warnings], but not Skipped.
const MaxWarnings = 20

// Warning describes a defect of a recording.
type Warning struct {
	Place string // e.g. "line 171"
	Text  string

	Malformed bool `json:"-"` // the line itself is not a JSON object
}

// String returns "line 171: invalid escape".
func (w Warning) String() string { return w.Place + ": " + w.Text }

// Warn adds a warning, up to MaxWarnings.
func (r *Recording) Warn(place, format string, args ...any) {
	if len(r.Warnings) < MaxWarnings {
		r.Warnings = append(r.Warnings, Warning{Place: place, Text: fmt.Sprintf(format, args...)})
	}
}

// Skip counts a malformed line and warns of it.
func (r *Recording) Skip(line int, err error) {
	r.Skipped++
	r.malformed(line, "skipped: %v", err)
}

func (r *Recording) malformed(line int, format string, args ...any) {
	if len(r.Warnings) < MaxWarnings {
		r.Warn(fmt.Sprintf("line %d", line), format, args...)
		r.Warnings[len(r.Warnings)-1].Malformed = true
	}
}

// Open reads the recording at path, see [Load] and [Read].
func Open(path string, formats []Format, inFolder ...string) (*Recording, error) {
	src, err := Load(path, inFolder...)
	if err != nil {
		return nil, err
	}
	return Read(src, formats)
}

// Load reads the bytes of the recording at path: a file, or a folder that holds one of the given
// base names (the first that exists is taken; Roo's task folders need it). The error names the
// path; it is not_found if the path, or each of the names in the folder, is missing.
func Load(path string, inFolder ...string) (Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Source{}, osError(path, err)
	}
	if info.IsDir() {
		if path, err = find(path, inFolder); err != nil {
			return Source{}, err
		}
	}
	data, err := ReadFile(path)
	if err != nil {
		return Source{}, err
	}
	return Source{Path: path, Data: data}, nil
}

// Causes of errors, for [errors.Is].
var (
	ErrTooLarge   = fmt.Errorf("it has more than %d bytes", MaxBytes)
	ErrEmpty      = errors.New("the file is empty")
	ErrNoMessages = errors.New("holds no messages")
)

// MaxBytes is the size of the largest file that is read, 1 GiB.
const MaxBytes = 1 << 30

// ReadFile returns the content of a regular file of at most [MaxBytes] bytes, decompressed from
// gzip or zstd if necessary. Devices, named pipes and other special files are refused before they
// are opened. The error names the path and wraps the system's error.
func ReadFile(path string) ([]byte, error) {
	data, broken, err := ReadDamaged(path)
	if err == nil && broken != nil {
		err = Invalid(path, broken)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// ReadDamaged is [ReadFile] for a compressed file that may be damaged: it returns the content
// before the damage, and the decoder's error in broken.
func ReadDamaged(path string) (data []byte, broken, err error) {
	info, err := os.Stat(path) // before opening, because opening a named pipe waits for a writer
	if err != nil {
		return nil, nil, osError(path, err)
	}
	if !info.Mode().IsRegular() {
		e := Invalid(path, errors.New("it is no regular file"))
		if !info.IsDir() {
			e.Hint = "standard input, named as -, may be anything"
		}
		return nil, nil, e
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, osError(path, err)
	}
	defer f.Close()
	if data, err = readAll(f, path, info.Size()); err != nil {
		return nil, nil, err
	}
	data, broken = compressed.File(data, MaxBytes)
	return data, broken, nil
}

// readAll reads a file of about the given number of bytes.
func readAll(f io.Reader, path string, size int64) ([]byte, error) {
	var b bytes.Buffer
	if size <= MaxBytes {
		b.Grow(int(size) + bytes.MinRead)
		if _, err := b.ReadFrom(io.LimitReader(f, MaxBytes+1)); err != nil {
			return nil, osError(path, err)
		}
	}
	if size > MaxBytes || b.Len() > MaxBytes {
		return nil, Invalid(path, ErrTooLarge)
	}
	return b.Bytes(), nil
}

func find(dir string, names []string) (string, error) {
	for _, name := range names {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", &precis.Error{
		Code: precis.CodeNotFound, Op: "open", Place: dir,
		Err:  errors.New("the folder holds no conversation"),
		Hint: fmt.Sprintf("a task folder holds one of %v; otherwise name the file", names),
	}
}

// Read recognizes the format of src and reads it. Precis's own file is read by the format of the
// original in it, with its edits. The error is invalid and names the path if no format matches or
// the content is malformed.
func Read(src Source, formats []Format) (*Recording, error) {
	if len(bytes.TrimSpace(src.Data)) == 0 {
		return nil, Invalid(src.Path, ErrEmpty)
	}
	if IsContainer(src.Data) {
		return readContainer(src, formats)
	}
	f, err := Detect(src, formats)
	if err == nil {
		return readAs(f, src)
	}
	if lines := asLines(src.Data); lines != nil { // a list of records in a line format
		src.Data = lines
		if f, notEither := Detect(src, formats); notEither == nil {
			return readAs(f, src)
		}
	}
	return nil, err
}

// byteOrderMark begins some files written on Windows. It is not content.
var byteOrderMark = []byte("\uFEFF")

// Detect returns the first format that recognizes src. The error is invalid; for recordings known
// to be unsupported it names the program.
func Detect(src Source, formats []Format) (Format, error) {
	name := filepath.Base(src.Path)
	src.Data = bytes.TrimPrefix(src.Data, byteOrderMark)
	if other := foreignFormat(src.Data); other != "" {
		return nil, &precis.Error{
			Code: precis.CodeInvalid, Op: "recognize", Place: src.Path,
			Err:  fmt.Errorf("this is %s, which precis does not read", other),
			Hint: "known formats: " + names(formats),
		}
	}
	for _, f := range formats {
		if f.Detect(name, src.Data) {
			return f, nil
		}
	}
	return nil, &precis.Error{
		Code: precis.CodeInvalid, Op: "recognize", Place: src.Path,
		Err: fmt.Errorf("no known format of conversation: %s", nature(src.Data)),
		Hint: "known formats: " + names(formats) +
			`; plain is {"messages":[…]}, or [{"role":…,"content":…},…], or one such message a line`,
	}
}

// nature describes data that no format recognizes.
func nature(data []byte) string {
	empty := len(bytes.Trim(data, " \t\r\n[]{}")) == 0
	valid := jsonspan.Valid(data) == nil
	switch kind := jsonspan.Kind(data); {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}), bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		return "this is UTF-16, not UTF-8"
	case compressed.Is(data):
		return "this is compressed"
	case valid && kind == '[' && empty:
		return "the list of messages is empty"
	case valid && kind == '[':
		return "this is a JSON list whose first element is no message: it has no role"
	case valid && kind == '{' && empty:
		return `this is a JSON object without messages`
	case valid && kind == '{' && jsonspan.Field(data, "messages") != nil:
		return `the "messages" of this JSON object are no list of messages`
	case valid && kind == '{':
		return `this is a JSON object without "messages", and no line of an agent's recording`
	case kind == '{' && len(FirstLines(data, 1)) > 0:
		return "these are JSON lines, but neither messages nor those of an agent"
	}
	if valid {
		return "this is JSON, but no object and no list"
	}
	return "this is no JSON"
}

func names(formats []Format) string {
	var b bytes.Buffer
	for i, f := range formats {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(f.Name())
	}
	return b.String()
}

func readAs(f Format, src Source) (*Recording, error) {
	src.Data = bytes.TrimPrefix(src.Data, byteOrderMark)
	r, err := f.Read(src)
	if err != nil {
		if src.Data = MendJSON(src.Data); src.Data == nil {
			return nil, withPlace(src.Path, err)
		}
		fault := err
		if r, err = f.Read(src); err != nil {
			return nil, withPlace(src.Path, fault)
		}
		r.Warn("the document", "read with what is no JSON changed: %v", fault)
	}
	r.Format, r.Path = f.Name(), src.Path
	if r.Conversation == nil || r.Conversation.Transcript.Len() == 0 {
		return nil, Invalid(src.Path,
			fmt.Errorf("the %s recording %w%s", f.Name(), ErrNoMessages, skipped(r)))
	}
	return r, nil
}

func skipped(r *Recording) string {
	if r.Skipped == 0 {
		return ""
	}
	return fmt.Sprintf("; %d malformed lines were skipped, the first: %s", r.Skipped, r.Warnings[0])
}

// Invalid returns the error for an unreadable recording, or an unreadable place in it.
func Invalid(place string, err error) *precis.Error {
	return &precis.Error{Code: precis.CodeInvalid, Op: "read", Place: place, Err: err}
}

// withPlace puts the path before the place in an error.
func withPlace(path string, err error) error {
	var e *precis.Error
	if !errors.As(err, &e) {
		return Invalid(path, err)
	}
	out := *e
	if out.Place = path; e.Place != "" {
		out.Place += ": " + e.Place
	}
	return &out
}

func osError(path string, err error) *precis.Error {
	code := precis.CodeInternal
	if errors.Is(err, fs.ErrNotExist) {
		code = precis.CodeNotFound
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return &precis.Error{Code: code, Op: "open", Place: path, Err: err}
}
