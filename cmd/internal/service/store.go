package service

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/gateway/accounts"
	"github.com/precis-dev/precis/internal/localsecret"
	"github.com/precis-dev/precis/store/memory"
	"github.com/precis-dev/precis/store/postgres"
	"github.com/precis-dev/precis/store/sqlite"
)

// openStore opens the configured store. Shared reports whether replicas may use it; secret names
// owners, and is kept outside the store.
func openStore(ctx context.Context,
	c *config.Config) (st precis.Store, shared bool, secret []byte, err error) {
	g := c.Gateway
	if st, err = OpenStore(ctx, g, false); err != nil {
		return nil, false, nil, err
	}
	dir, err := dataDir(g)
	if err == nil {
		secret, err = readSecret(g, dir)
	}
	if err != nil {
		_ = st.Close()
		return nil, false, nil, err
	}
	if !g.Bodies && g.Store != config.Memory {
		return withoutContent(st), false, secret, nil // not shared: it lacks the content
	}
	return st, isPostgres(g.Store), secret, nil
}

func isPostgres(store string) bool {
	return strings.HasPrefix(store, "postgres://") || strings.HasPrefix(store, "postgresql://")
}

// OpenStore opens the configured store. With there, a missing file is an error.
func OpenStore(ctx context.Context, g config.Gateway, there bool) (precis.Store, error) {
	switch {
	case g.Store == config.Memory:
		return memory.New(), nil
	case isPostgres(g.Store):
		return postgres.Open(ctx, g.Store, postgres.Options{})
	}
	path, err := StoreFile(g)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); there && err != nil {
		return nil, &precis.Error{Code: precis.CodeNotFound, Op: "open store", Place: path, Err: err}
	}
	return sqlite.Open(ctx, path, sqlite.Options{})
}

// StoreFile returns the file of the store; "" when the store is not a file. It creates the folder
// if necessary.
func StoreFile(g config.Gateway) (string, error) {
	if g.Store == config.Memory || isPostgres(g.Store) {
		return "", nil
	}
	dir, err := dataDir(g)
	if err != nil || g.Store != "" {
		return g.Store, err
	}
	return filepath.Join(dir, "conversations.db"), nil
}

// SecretFile returns the file of the secret; "" when the secret is not on disk.
func SecretFile(g config.Gateway) (string, error) {
	if g.SecretFile != "" {
		return g.SecretFile, nil
	}
	dir, err := dataDir(g)
	if err != nil || dir == "" {
		return "", err
	}
	return filepath.Join(dir, "secret"), nil
}

// dataDir returns the folder of the gateway's own files, and creates it if necessary; "" when it
// needs none.
func dataDir(g config.Gateway) (string, error) {
	if g.Store == config.Memory && g.SecretFile == "" {
		return "", nil
	}
	if g.Store != "" && !strings.Contains(g.Store, "://") && g.Store != config.Memory {
		return filepath.Dir(g.Store), nil
	}
	base := os.Getenv("XDG_DATA_HOME")
	if base == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", precis.Errorf(precis.CodeInternal, "find data folder", "%w", err)
		}
		base = filepath.Join(home, ".local", "share")
	}
	dir := filepath.Join(base, "precis")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", precis.Errorf(precis.CodeInternal, "make data folder", "%w", err)
	}
	return dir, nil
}

// LocalSecret returns the secret that programs of this account send to a gateway without keys to be
// allowed changes, see package localsecret. Its file is in the folder of the gateway's own files,
// or in the user's data folder if the gateway has none.
func LocalSecret(g config.Gateway) (string, error) {
	if g.Store == config.Memory || isPostgres(g.Store) {
		g.Store, g.SecretFile = "", "" // the user's data folder
	}
	dir, err := dataDir(g)
	if err != nil {
		return "", err
	}
	return localsecret.Load(dir)
}

// readSecret reads the secret, and creates it if it is missing.
func readSecret(g config.Gateway, dir string) ([]byte, error) {
	const op = "read gateway.secret_file"
	path := g.SecretFile
	if path == "" {
		if dir == "" { // no data is kept, so the secret need not last
			b := make([]byte, 32)
			_, _ = rand.Read(b) // never fails
			return b, nil
		}
		path = filepath.Join(dir, "secret")
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		b := make([]byte, 32)
		_, _ = rand.Read(b) // never fails
		text := []byte(hex.EncodeToString(b) + "\n")
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return nil, precis.Errorf(precis.CodeInternal, op, "%w", err)
		}
		if _, err := f.Write(text); err != nil {
			_ = f.Close()
			return nil, precis.Errorf(precis.CodeInternal, op, "%w", err)
		}
		return bytes.TrimSpace(text), f.Close()
	}
	if err != nil {
		return nil, precis.Errorf(precis.CodeInternal, op, "%w", err)
	}
	if data = bytes.TrimSpace(data); len(data) < 16 {
		return nil, precis.Errorf(precis.CodeInvalid, op, "%s holds less than 16 bytes", path)
	}
	return data, nil
}

// Keys is the content of a file of keys.
type Keys struct {
	Owners map[string]string // by the hash of a key
	Admins map[string]bool   // owners that are admins
}

// ReadKeys reads a file of keys. Each line has a name, a hash by [accounts.HashKey], and the word
// "admin" for an owner who may see and change everything; # begins a comment.
func ReadKeys(path string) (Keys, error) {
	keys := Keys{Owners: map[string]string{}, Admins: map[string]bool{}}
	if path == "" {
		return keys, nil
	}
	const op = "read gateway.keys_file"
	data, err := os.ReadFile(path)
	if err != nil {
		return keys, &precis.Error{Code: precis.CodeNotFound, Op: op, Place: path, Err: err}
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		admin := len(f) == 3 && f[2] == "admin"
		if len(f) != 2 && !admin || len(f[1]) != len(accounts.HashKey("")) {
			return keys, precis.Errorf(precis.CodeInvalid, op,
				"%s: line %d: want a name and a hash, and perhaps the word admin", path, n)
		}
		keys.Owners[f[1]] = f[0]
		if admin {
			keys.Admins[f[0]] = true
		}
	}
	if len(keys.Owners) == 0 {
		return keys, precis.Errorf(precis.CodeInvalid, op, "%s holds no key", path)
	}
	return keys, nil
}
