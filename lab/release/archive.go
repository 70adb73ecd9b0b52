package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// entry is a file in an archive.
type entry struct {
	name  string // a folder's ends with a slash
	mode  fs.FileMode
	data  []byte
	owner int
}

// beside are the files that lie beside the program in each archive.
var beside = []string{"LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md"}

// archives writes an archive of each platform: zip for Windows, else tar and gzip.
func (r *release) archives(_ context.Context, chosen []target) error {
	var rest []entry
	for _, name := range beside {
		data, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return err
		}
		rest = append(rest, entry{name: name, mode: 0o644, data: data})
	}
	notices, err := os.ReadFile(filepath.Join(r.out, noticesFile))
	if err != nil {
		return err
	}
	rest = append(rest, entry{name: noticesFile, mode: 0o644, data: notices})
	for _, t := range chosen {
		program, err := os.ReadFile(r.program(t))
		if err != nil {
			return err
		}
		entries := append([]entry{{name: filepath.Base(r.program(t)), mode: 0o755, data: program}}, rest...)
		pack := compressed
		if t.os == "windows" {
			pack = zipped
		}
		data, err := pack(entries, r.when)
		if err != nil {
			return err
		}
		to := filepath.Join(r.out, r.archive(t))
		if err := os.WriteFile(to, data, 0o644); err != nil {
			return err
		}
		s, err := sumOf(to)
		if err != nil {
			return err
		}
		r.sums = append(r.sums, s)
	}
	return nil
}

// archive is the name of a platform's archive, which packaging/install.sh knows, too.
func (r *release) archive(t target) string {
	name := "precis_" + r.version + "_" + t.os + "_" + t.arch
	if t.os == "windows" {
		return name + ".zip"
	}
	return name + ".tar.gz"
}

// tarred returns the files as tar.
func tarred(entries []entry, when time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		if err := w.WriteHeader(&tar.Header{Name: e.name, Mode: int64(e.mode.Perm()), Size: int64(len(e.data)),
			Uid: e.owner, Gid: e.owner, ModTime: when, Format: tar.FormatPAX}); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

// compressed returns the files as tar and gzip.
func compressed(entries []entry, when time.Time) ([]byte, error) {
	data, err := tarred(entries, when)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	err = z.Close()
	return out.Bytes(), err
}

func zipped(entries []entry, when time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: when}
		h.SetMode(e.mode)
		f, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(e.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}
