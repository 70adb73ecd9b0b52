// Package folder reads files of the user's working folder. Other people may have written them, so
// they are not trusted. Use [Read].
package folder

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// MaxBytes is the size of the largest file that [Read] returns.
const MaxBytes = 1 << 20

// Read returns the content of a regular file of at most [MaxBytes] bytes. For other files, such
// as a named pipe or a link to an endless device, it returns an error without reading. For a file
// that does not exist the error is [fs.ErrNotExist].
func Read(path string) ([]byte, error) {
	info, err := os.Stat(path) // before opening it: opening a named pipe waits for a writer
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err == nil && len(data) > MaxBytes {
		err = fmt.Errorf("it has more than %d bytes", MaxBytes)
	}
	return data, err
}
