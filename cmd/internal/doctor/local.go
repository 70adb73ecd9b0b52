package doctor

import (
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/cmd/internal/service"
	"github.com/precis-dev/precis/cmd/internal/term"
	"github.com/precis-dev/precis/store"
)

// store opens the store and makes a write that leaves no trace.
func (e *exam) store(ctx context.Context) {
	const check = "store"
	g := e.cfg.Gateway
	if g.Store == config.Memory {
		e.ok(check, "in memory: nothing outlives the gateway")
		return
	}
	path, err := service.StoreFile(g)
	if err != nil {
		e.add(check, Bad, "set gateway.store", "%v", err)
		return
	}
	if path != "" && isMissing(path) {
		if e.space(check, filepath.Dir(path)) {
			e.ok(check, "%s is made when the gateway begins", path)
		}
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	st, err := service.OpenStore(ctx, g, false)
	if err != nil {
		e.add(check, Bad, "see gateway.store in precis config", "%v", err)
		return
	}
	defer st.Close()
	if l, ok := st.(store.Leaser); ok {
		release, _, err := l.Lease(ctx, "precis doctor", "precis doctor", time.Second)
		release()
		if err != nil {
			e.add(check, Bad, "check the permissions of the store, and that its disk is not full",
				"it cannot be written: %v", err)
			return
		}
	}
	if path == "" {
		e.ok(check, "PostgreSQL answers and can be written")
		return
	}
	if e.private(check, path) && e.space(check, filepath.Dir(path)) {
		e.ok(check, "%s can be written", path)
	}
}

func isMissing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// space warns of a disk that is nearly full.
func (e *exam) space(check, dir string) bool {
	const little, tiny = 1 << 30, 100 << 20
	free, known := freeBytes(dir)
	if !known || free >= little {
		return true
	}
	level := Warn
	if free < tiny {
		level = Bad
	}
	e.add(check, level, "make room, or set gateway.store and gateway.retention_days", "%s has %s MB left",
		dir, term.Number(int(free>>20)))
	return false
}

func (e *exam) secret() {
	const check = "secret"
	path, err := service.SecretFile(e.cfg.Gateway)
	if err != nil {
		e.add(check, Bad, "set gateway.secret_file", "%v", err)
		return
	}
	if path == "" {
		e.ok(check, "made anew each time, since nothing is stored")
		return
	}
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.ok(check, "%s is made when the gateway begins", path)
	case err != nil:
		e.add(check, Bad, "make it readable for the user of the gateway", "%v", err)
	case len(data) < 16:
		e.add(check, Bad, "remove it; another is made, and conversations begin anew", "%s is too short", path)
	case e.private(check, path):
		e.ok(check, "%s", path)
	}
}

func (e *exam) keys() {
	const check = "keys"
	path := e.cfg.Gateway.KeysFile
	keys, err := service.ReadKeys(path)
	switch {
	case err != nil:
		e.add(check, Bad, "precis gateway key NAME makes a key and its line", "%v", err)
	case path == "":
		e.ok(check, "none are asked for")
	case e.private(check, path):
		e.ok(check, "%s in %s", term.Count(len(keys.Owners), "key"), path)
	}
}

// listen checks the address, and whether it is free.
func (e *exam) listen(ctx context.Context) {
	const check = "address"
	g := e.cfg.Gateway
	l, err := service.Listen(g)
	if err == nil {
		_ = l.Close()
		host, _, _ := net.SplitHostPort(g.Listen)
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) &&
			g.KeysFile == "" {
			e.add(check, Warn, "set gateway.keys_file unless the network is trusted",
				"%s can be reached by others without a key", g.Listen)
			return
		}
		e.ok(check, "%s is free", g.Listen)
		return
	}
	if precis.CodeOf(err) == precis.CodeInvalid {
		e.add(check, Bad, "set gateway.keys_file: to off when the network is trusted", "%v", err)
		return
	}
	if isGateway(ctx, g.Listen) {
		e.ok(check, "a gateway listens on %s", g.Listen)
		return
	}
	e.add(check, Bad, "end what listens there, or set gateway.listen", "%v", err)
}

func isGateway(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	return res.StatusCode == http.StatusOK
}

func (e *exam) certificate() {
	const check = "certificate"
	g := e.cfg.Gateway
	if g.CertFile == "" {
		return
	}
	pair, err := tls.LoadX509KeyPair(g.CertFile, g.KeyFile)
	if err != nil {
		e.add(check, Bad, "see gateway.cert_files", "%v", err)
		return
	}
	if left := time.Until(pair.Leaf.NotAfter); left < 14*24*time.Hour {
		level := Warn
		if left <= 0 {
			level = Bad
		}
		e.add(check, level, "renew it", "%s is valid until %s", g.CertFile,
			pair.Leaf.NotAfter.Format(time.DateOnly))
		return
	}
	e.ok(check, "%s is valid until %s", g.CertFile, pair.Leaf.NotAfter.Format(time.DateOnly))
}
