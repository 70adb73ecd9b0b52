package config

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/atomicfile"
	"github.com/precis-dev/precis/models"
)

// Catalog returns the known models: the built-in ones, corrected by the user's catalog, then by
// models_file.
func (c *Config) Catalog() (*models.Catalog, error) {
	const op = "read models"
	var o models.Options
	if path := CatalogFile(); path != "" {
		data, err := os.ReadFile(path)
		if err == nil {
			o.Updates, err = models.ParseCatalog(data, path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			const hint = "precis models --undo takes the catalog back"
			return nil, &precis.Error{Code: precis.CodeInvalid, Op: op, Place: path, Err: err, Hint: hint}
		}
	}
	if path := c.ModelsFile; path != "" {
		const op = "read models_file"
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, &precis.Error{Code: precis.CodeNotFound, Op: op, Place: path, Err: err}
		}
		if o.Overrides, err = models.ParseOverrides(data, path); err != nil {
			return nil, precis.Errorf(precis.CodeInvalid, op, "%w", err)
		}
	}
	o.Reported = reportedWindows()
	catalog, err := models.New(o)
	if err != nil {
		return nil, precis.Errorf(precis.CodeInvalid, op, "%w", err)
	}
	return catalog, nil
}

// CatalogFile returns the path of the user's catalog of models, which need not exist; "" when the
// user has no configuration folder. The previous catalog has the same name with ".old" added.
func CatalogFile() string {
	user := UserFile()
	if user == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(user), "models.json")
}

// UpdateCatalog reads a catalog of models from a file or an http or https URL, makes it the user's
// catalog, and returns the number of its models and the path of the file. If it fails, the user's
// catalog stays as it is. The error is [precis.CodeNotFound] for a missing file,
// [precis.CodeUpstream] if reading fails, [precis.CodeInvalid] for a file of another kind, and
// [precis.CodeInternal] if the user's catalog cannot be written.
func UpdateCatalog(ctx context.Context, from string) (n int, path string, err error) {
	const op = "update models"
	if path = CatalogFile(); path == "" {
		return 0, "", precis.Errorf(precis.CodeNotFound, op, "you have no configuration folder")
	}
	data, err := fetchCatalog(ctx, from)
	if err != nil {
		code := precis.CodeUpstream
		if errors.Is(err, fs.ErrNotExist) {
			code = precis.CodeNotFound
		}
		return 0, "", &precis.Error{Code: code, Op: op, Place: from, Err: err}
	}
	normal, n, err := models.NormalCatalog(data)
	if err != nil {
		return 0, "", &precis.Error{
			Code: precis.CodeInvalid, Op: op, Place: from, Err: err,
			Hint: "a catalog is the JSON of charm.land/catwalk or of https://models.dev/api.json",
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return 0, "", precis.Errorf(precis.CodeInternal, op, "%w", err)
	}
	if old, err := os.ReadFile(path); err == nil {
		if err := atomicfile.Write(path+".old", old); err != nil {
			return 0, "", precis.Errorf(precis.CodeInternal, op, "%w", err)
		}
	}
	if err := atomicfile.Write(path, normal); err != nil {
		return 0, "", precis.Errorf(precis.CodeInternal, op, "%w", err)
	}
	return n, path, nil
}

// fetchCatalog reads a file or a URL: at most one byte more than a catalog may have, so that a
// larger one is refused.
func fetchCatalog(ctx context.Context, from string) ([]byte, error) {
	const patience = time.Minute
	if !strings.HasPrefix(from, "http://") && !strings.HasPrefix(from, "https://") {
		f, err := os.Open(from)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }() // it was only read
		return io.ReadAll(io.LimitReader(f, models.MostCatalog+1))
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }() // it was read, or is not needed
	if res.StatusCode != http.StatusOK {
		return nil, errors.New(res.Status)
	}
	return io.ReadAll(io.LimitReader(res.Body, models.MostCatalog+1))
}

// UndoCatalog undoes the last update of the user's catalog: the previous one applies again, or the
// built-in one if it was the first update. The error is [precis.CodeNotFound] when the user has no
// catalog.
func UndoCatalog() error {
	const op = "undo update of models"
	path := CatalogFile()
	err := os.Rename(path+".old", path)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.Remove(path)
	}
	if err != nil {
		code := precis.CodeInternal
		if errors.Is(err, fs.ErrNotExist) {
			code = precis.CodeNotFound
		}
		return &precis.Error{Code: code, Op: op, Place: path, Err: err}
	}
	return nil
}
