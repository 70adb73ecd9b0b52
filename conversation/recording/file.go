// Package recording answers how verbs work on a recorded conversation and where its edits are kept.
// [Open] reads the recording once. [File.Keep] selects where edits go: into the recording itself if
// it is precis's own file, into a new such file, or into a Roo task folder. [File.Home] makes it a
// home for the verbs of package conversation.
package recording

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/formats"
	"github.com/precis-dev/precis/archive/roo"
)

// Suffix is the end of the names of precis's own files.
const Suffix = ".precis"

// File is a recording that was read.
type File struct {
	*archive.Recording
	Task *roo.Task // nil: not a task folder

	data      []byte             // as read
	container *archive.Container // nil: not precis's own file
	recorded  []precis.Edit      // edits by the program that made the recording
	keep      keeper             // nil: read only
}

// Open reads the recording at path, which is a file or a folder, see [formats.Load]. The errors are
// those that [formats.Load] and [archive.Read] return.
func Open(path string) (*File, error) {
	src, err := formats.Load(path)
	if err != nil {
		return nil, err
	}
	return read(src)
}

// Read reads a recording from memory.
func Read(data []byte) (*File, error) { return read(archive.Source{Data: data}) }

func read(src archive.Source) (f *File, err error) {
	f = &File{data: src.Data}
	switch {
	case archive.IsContainer(src.Data):
		if f.container, err = archive.ParseContainer(src.Data); err != nil {
			return nil, &precis.Error{Code: precis.CodeInvalid, Op: "read", Place: src.Path, Err: err}
		}
		if f.Recording, err = f.container.Read(src.Path, formats.All()); err != nil {
			return nil, err
		}
	case roo.IsTask(src.Path):
		f.Task, f.Recording, err = roo.ReadTask(src)
	default:
		f.Recording, err = archive.Read(src, formats.All())
	}
	if err != nil {
		return nil, err
	}
	f.recorded = f.Conversation.Edits
	if f.container != nil {
		f.container.Apply(f.Recording)
	}
	return f, nil
}

// Original returns the bytes of the recording at path without precis's changes.
func Original(path string) ([]byte, error) {
	src, err := formats.LoadAlone(path)
	if err != nil || !archive.IsContainer(src.Data) {
		return src.Data, err
	}
	c, err := archive.ParseContainer(src.Data)
	if err != nil {
		return nil, &precis.Error{Code: precis.CodeInvalid, Op: "read", Place: path, Err: err}
	}
	return c.Original, nil
}

// Keep selects where edits go: with inPlace, into the task folder; else into precis's own file at
// path out. An empty out means the recording itself if it is such a file, else NAME.precis in the
// current folder. If that file holds edits of the same conversation, Keep continues it: continued
// is its path, and its edits are in force. Any other existing file is a [precis.CodeConflict].
func (f *File) Keep(out string, inPlace bool) (continued string, err error) {
	const op = "save"
	switch {
	case f.Path == "":
		return "", &precis.Error{Code: precis.CodeInvalid, Op: op,
			Err:  errors.New("the recording came from standard input"),
			Hint: "use precis view for the messages, or name a file"}
	case inPlace && f.Task == nil:
		return "", &precis.Error{Code: precis.CodeInvalid, Op: "write", Place: f.Path,
			Err:  errors.New("only Roo and Cline task folders can be written in place"),
			Hint: "use -o FILE; precis keeps the original and its edits there"}
	case inPlace:
		f.keep = &taskKeeper{task: f.Task}
		return "", nil
	}
	k := &ownFile{path: out, c: f.container, f: f}
	if k.c == nil {
		k.c = archive.NewContainer(f.Format, f.Path, f.data)
	}
	switch {
	case out == "" && f.container != nil:
		k.path = f.Path
	case out == "":
		k.path = formats.NameOf(f.Path) + Suffix
	}
	f.keep = k
	if f.container != nil && filepath.Clean(k.path) == filepath.Clean(f.Path) {
		k.sum = sha256.Sum256(f.data)
		return "", nil
	}
	there, err := k.load()
	if there == nil || err != nil {
		return "", err
	}
	if len(there.Edits) == 0 {
		return "", nil
	}
	if out != "" || f.container != nil {
		return "", k.refuse("the file exists and holds edits of this conversation")
	}
	f.Conversation.Edits = k.continueFrom(there)
	return k.path, nil
}

// EditsPath returns the path of the file or folder that keeps the edits.
func (f *File) EditsPath() string { return f.keep.where() }

// keeper keeps edits of one recording.
type keeper interface {
	where() string
	// refresh returns the conversation if the kept file has changed since it was last read or
	// written; nil: unchanged.
	refresh() (*precis.Conversation, error)
	// record adds edits. If the kept file has changed, the error is [precis.CodeConflict] and the
	// file is not written.
	record(ctx context.Context, made []precis.Edit) error
}

// contents reads the file at path; nil: it does not exist.
func contents(path string) ([]byte, error) {
	data, err := archive.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
