package recording

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/atomicfile"
	"github.com/precis-dev/precis/internal/filelock"
)

// ownFile keeps edits in precis's own file.
type ownFile struct {
	path string
	f    *File
	c    *archive.Container // as last read or written, or to be written
	sum  [sha256.Size]byte  // of the file at that time; zero: it did not exist
	info os.FileInfo        // of the file at that time; nil: unknown
}

func (k *ownFile) where() string { return k.path }

// load reads the file, if there is one, and notes its hash.
func (k *ownFile) load() (*archive.Container, error) {
	info, err := os.Stat(k.path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, &precis.Error{Code: precis.CodeInvalid, Op: "save", Place: k.path,
			Err: errors.New("this is no regular file"), Hint: "precis view prints the messages"}
	}
	data, err := contents(k.path)
	if err != nil || data == nil {
		k.sum = [sha256.Size]byte{}
		return nil, err
	}
	if !archive.IsContainer(data) {
		return nil, k.refuse("the file exists and is not precis's own")
	}
	there, err := archive.ParseContainer(data)
	if err != nil || there.SHA256 != k.c.SHA256 {
		return nil, k.refuse("the file exists and holds another conversation")
	}
	k.sum, k.info = sha256.Sum256(data), info
	return there, nil
}

func (k *ownFile) refuse(why string) error {
	return &precis.Error{Code: precis.CodeConflict, Op: "save", Place: k.path, Err: errors.New(why),
		Hint: "name another file with -o, or work on " + k.path + " itself"}
}

// continueFrom continues from another container of the same original. It returns the edits of the
// conversation.
func (k *ownFile) continueFrom(there *archive.Container) []precis.Edit {
	conv := *k.f.Conversation
	conv.Edits = slices.Clip(k.f.recorded)
	rec := &archive.Recording{Conversation: &conv}
	there.Apply(rec)
	k.f.Warnings = append(k.f.Warnings, rec.Warnings...)
	k.c = there
	return conv.Edits
}

// refresh loads changes that another program has written.
func (k *ownFile) refresh() (*precis.Conversation, error) {
	if info, err := os.Stat(k.path); err == nil && k.info != nil && os.SameFile(info, k.info) &&
		info.ModTime().Equal(k.info.ModTime()) && info.Size() == k.info.Size() {
		return nil, nil
	}
	sum, err := k.fileHash()
	if err != nil || sum == k.sum {
		return nil, err
	}
	there, err := k.load()
	if there == nil || err != nil {
		return nil, err // the file is gone: the next edit writes it anew from memory
	}
	conv := *k.f.Conversation
	conv.Edits = k.continueFrom(there)
	return &conv, nil
}

// fileHash returns the hash of the file; zero: it does not exist.
func (k *ownFile) fileHash() (sum [sha256.Size]byte, err error) {
	data, err := contents(k.path)
	if err == nil && data != nil {
		sum = sha256.Sum256(data)
	}
	return sum, err
}

// target resolves the path, which may be a link. The file there was read and is precis's own.
func (k *ownFile) target() string {
	if path, err := filepath.EvalSymlinks(k.path); err == nil {
		return path
	}
	return k.path
}

// record writes the file anew. If another program has written it since it was read, record keeps
// those edits too, provided that the new ones fit them.
func (k *ownFile) record(ctx context.Context, made []precis.Edit) error {
	unlock, err := filelock.Own(ctx, k.target())
	if err != nil {
		return err
	}
	defer unlock()
	sum, err := k.fileHash()
	if err != nil {
		return err
	}
	others := sum != k.sum
	if others && !k.fits(made) {
		return &precis.Error{Code: precis.CodeConflict, Op: "save", Place: k.path,
			Err: errors.New("the file has changed since it was read"), Hint: "try again"}
	}
	c := *k.c
	c.Edits = append(slices.Clip(c.Edits), made...)
	out, err := c.Bytes()
	if err != nil {
		return err
	}
	if err := atomicfile.Write(k.target(), out); err != nil {
		return err
	}
	k.c, k.sum = &c, sha256.Sum256(out)
	k.info, _ = os.Stat(k.path) // on an error nil: refresh then compares the content
	if others {
		k.sum, k.info = [sha256.Size]byte{}, nil // force the next read to load the edits of others
	}
	return nil
}

// fits reads the file as it is now and reports whether edits may be added to those in it.
func (k *ownFile) fits(made []precis.Edit) bool {
	there, err := k.load()
	if there == nil || err != nil {
		return false
	}
	checker := precis.NewEditChecker(k.f.Conversation.Transcript, k.continueFrom(there))
	return !slices.ContainsFunc(made, func(e precis.Edit) bool { return checker.Add(e) != nil })
}
