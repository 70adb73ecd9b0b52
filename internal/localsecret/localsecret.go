// Package localsecret keeps a secret that programs of one account use to recognize each other on a
// machine with several users: whoever can read the file may act for its owner. Use [Load] on both
// sides, and [Equal] to compare.
//
// The file has mode 0600. It contains the secret as text that fits into a header, a cookie and the
// query of a URL.
package localsecret

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/precis-dev/precis"
)

// Name is the name of the file in its folder.
const Name = "local-secret"

const (
	shortest = 20      // characters of a valid secret: 100 bits of base 32
	longest  = 4 << 10 // bytes that are read
)

// Load returns the secret of a folder. It creates a missing folder or secret with modes 0700 and
// 0600; if several programs do so at once, all get the same secret. A secret that other accounts
// could read, or that is too short, is replaced. The error is [precis.CodeInternal] and names the
// path, never the secret. It is safe for concurrent use.
func Load(dir string) (string, error) {
	path := filepath.Join(dir, Name)
	secret, err := read(path)
	if err == nil {
		return secret, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = create(dir, path)
	} else if errors.Is(err, errUnusable) {
		if err = os.Remove(path); err == nil || errors.Is(err, fs.ErrNotExist) {
			err = create(dir, path)
		}
	}
	if err == nil {
		secret, err = read(path) // possibly created by another program
	}
	if err != nil {
		var pathErr *fs.PathError
		if errors.As(err, &pathErr) {
			err = pathErr.Err
		}
		return "", &precis.Error{Code: precis.CodeInternal, Op: "read local secret", Place: path, Err: err}
	}
	return secret, nil
}

// Equal reports whether a caller sent the secret, in constant time. An empty secret equals no text.
func Equal(sent, secret string) bool {
	return secret != "" && subtle.ConstantTimeCompare([]byte(sent), []byte(secret)) == 1
}

var errUnusable = errors.New("it is no secret of this account alone")

// read returns the secret of a file. The error is [fs.ErrNotExist] for a missing file, and
// errUnusable for one that is to be replaced.
func read(path string) (string, error) {
	info, err := os.Lstat(path) // a link may lead to a file of another user
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is no regular file")
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", errUnusable
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, longest))
	if err != nil {
		return "", err
	}
	secret := strings.TrimSpace(string(data))
	if len(secret) < shortest || strings.ContainsFunc(secret,
		func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", errUnusable
	}
	return secret, nil
}

// create creates the file with a secret atomically. An existing file stays.
func create(dir, path string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "."+Name+".tmp-*") // of mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(rand.Text() + "\n")
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	err = os.Link(f.Name(), path) // never replaces a file
	if err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	if _, serr := os.Lstat(path); serr == nil {
		return nil
	}
	return os.Rename(f.Name(), path) // the file system has no hard links
}
