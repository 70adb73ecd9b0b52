package archive_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
)

// Only regular files of a bounded size are read; the rest is refused before it is
// opened.
func TestFilesAreReadWithCare(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, archive.MaxBytes+1); err != nil { // a hole takes no room
		t.Skip("no large file can be made: ", err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("/dev/zero", link); err != nil {
		t.Skip("no link can be made: ", err)
	}
	for path, want := range map[string]string{large: "more than 1073741824 bytes", link: "no regular file", dir: "no regular file"} {
		_, err := archive.ReadFile(path)
		if precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := archive.ReadFile(filepath.Join(dir, "none")); precis.CodeOf(err) != precis.CodeNotFound || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := archive.ReadFile(file); string(data) != "text" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
}

// Files compressed with gzip and zstd are read; damaged ones, and ones far larger than a
// conversation can be, are refused.
func TestCompressedFiles(t *testing.T) {
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	text := []byte(strings.Repeat("the wick of the lamp\n", 1000))
	packed := enc.EncodeAll(text, nil)
	var zipped, zipBomb bytes.Buffer
	for out, content := range map[*bytes.Buffer][]byte{&zipped: text, &zipBomb: make([]byte, 64<<20)} {
		w := gzip.NewWriter(out)
		_, _ = w.Write(content)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	for name, tt := range map[string]struct {
		data []byte
		want string // of the error; "": none
	}{
		"whole": {packed, ""}, "cut": {packed[:len(packed)-8], "damaged"}, "bomb": {enc.EncodeAll(make([]byte, 64<<20), nil), "bytes"},
		"gzip, whole": {zipped.Bytes(), ""}, "gzip, cut": {zipped.Bytes()[:zipped.Len()-9], "damaged"}, "gzip, bomb": {zipBomb.Bytes(), "bytes"},
		"no zstd": {[]byte("\x28\xb5\x2f\xfd no zstd"), "damaged"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, tt.data, 0o600); err != nil {
			t.Fatal(err)
		}
		data, err := archive.ReadFile(path)
		if tt.want == "" && (err != nil || !bytes.Equal(data, text)) || tt.want != "" && (precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path)) {
			t.Errorf("%s: %d bytes, %v", name, len(data), err)
		}
	}
}
