//go:build unix

// Package pgtest runs a private PostgreSQL server for the tests of one process.
// [Start] makes one in a temporary directory, reachable by a Unix socket alone;
// [Cluster.Database] gives a test a database of its own. The server ends with
// the process, however that ends.
//
//precis:testonly
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Cluster is a server with its data. The zero value has none: its tests skip.
type Cluster struct {
	dir  string
	bin  string
	cred *syscall.Credential // nil: that of the process
	n    atomic.Int64        // databases made

	guard *exec.Cmd // keeps the server; nil while it is down
	line  io.WriteCloser
}

// Start makes a cluster and starts its server. Run by root, the server runs as
// the user postgres or nobody. It survives neither Stop nor the process. The
// error is [ErrMissing] without the programs.
func Start() (*Cluster, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	c := &Cluster{bin: bin}
	if c.dir, err = os.MkdirTemp("", "precis-pg-"); err != nil {
		return nil, err
	}
	if err := c.become(); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	initdb := c.command(filepath.Join(bin, "initdb"), "--pgdata="+c.data(), "--username=postgres",
		"--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("initdb: %w\n%s", err, out), c.Stop())
	}
	if err := c.Up(); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }

// become finds the user the server runs as and gives it the directory.
func (c *Cluster) become() error {
	if os.Geteuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return err
		}
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return err
	}
	c.cred = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return os.Chown(c.dir, uid, gid)
}

func (c *Cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = c.dir
	// A group of its own: an interrupt from the terminal is for the tests, which
	// then end, and the guard with them.
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.cred, Setpgid: true}
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC", "HOME=" + c.dir}
	return cmd
}

// guardScript runs the server until its standard input is closed, which happens
// when the test process ends. Then it removes the data, too, unless it is
// configured to keep them.
const guardScript = `"$1" -D "$2" -c listen_addresses= -c unix_socket_directories="$3" -c max_connections=200 \
	-c fsync=off -c full_page_writes=off -c log_statement=none >>"$3/log" 2>&1 &
server=$!
read -r line
kill -QUIT $server
wait $server
test "$line" = keep || rm -rf "$3"
`

// Up starts the server and waits until it answers.
func (c *Cluster) Up() error {
	cmd := c.command("/bin/sh", "-c", guardScript, "guard", filepath.Join(c.bin, "postgres"), c.data(), c.dir)
	line, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	c.guard, c.line = cmd, line
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err := c.run(context.Background(), "SELECT 1")
		if err == nil {
			return nil
		}
		if time.Since(start) > time.Minute {
			log, _ := os.ReadFile(filepath.Join(c.dir, "log"))
			return fmt.Errorf("the server does not start: %w\n%s", err, log)
		}
	}
}

// Down stops the server at once, as a crash would, and keeps its data.
func (c *Cluster) Down() error {
	if c.guard == nil {
		return nil
	}
	_, err := io.WriteString(c.line, "keep\n")
	return errors.Join(err, c.end())
}

func (c *Cluster) end() error {
	cmd := c.guard
	c.guard = nil
	return errors.Join(c.line.Close(), cmd.Wait())
}

// Stop stops the server and removes its data. A nil Cluster has none.
func (c *Cluster) Stop() error {
	if c == nil {
		return nil
	}
	var err error
	if c.guard != nil {
		err = c.end()
	}
	return errors.Join(err, os.RemoveAll(c.dir))
}

// URL returns the URL of a database by name.
func (c *Cluster) URL(database string) string {
	u := url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/" + database}
	return u.String() + "?" + url.Values{"host": {c.dir}, "port": {"5432"}}.Encode()
}

// Database returns the URL of a new database, which is dropped at the end of
// the test; with -short by Stop, with all others at once.
func (c *Cluster) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprint("test", c.n.Add(1))
	if err := c.run(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		return c.URL(name)
	}
	t.Cleanup(func() {
		if err := c.run(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return c.URL(name)
}

func (c *Cluster) run(ctx context.Context, text string) error {
	conn, err := pgx.Connect(ctx, c.URL("postgres"))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, text)
	return errors.Join(err, conn.Close(ctx))
}
