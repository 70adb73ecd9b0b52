package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/precis-dev/precis/cmd/internal/console"
)

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) {
	return 0, fmt.Errorf("write: %w", syscall.ENOSPC)
}

// The exit codes are those that the help names, and so are the codes under --json.
func TestExitCodes(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dir := t.TempDir()
	file, closed := filepath.Join(dir, "run.jsonl"), filepath.Join(dir, "closed.jsonl")
	for path, mode := range map[string]os.FileMode{file: 0o600, closed: 0} {
		if err := os.WriteFile(path, []byte(`{"role":"user","content":"hi"}`+"\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	listen := []string{"--listen", l.Addr().String()}
	for name, c := range map[string]struct {
		args []string
		want int
		code string
	}{
		"done":                    {[]string{"inspect", file}, 0, ""},
		"a port in use":           {append([]string{"gateway"}, listen...), 4, "conflict"},
		"a port in use, pages":    {append([]string{"ui", file}, listen...), 4, "conflict"},
		"a port in use, engine":   {append([]string{"serve"}, listen...), 4, "conflict"},
		"no port":                 {[]string{"ui", file, "--listen", "127.0.0.1:99999"}, 2, "invalid"},
		"no permission":           {[]string{"inspect", closed}, 2, "invalid"},
		"a missing file":          {[]string{"inspect", file + "x"}, 3, "not_found"},
		"a missing folder":        {[]string{"condense", "-o", filepath.Join(dir, "no", "x.precis"), file}, 3, "not_found"},
		"a store without folder":  {[]string{"gateway", "--listen", "127.0.0.1:0", "--store", filepath.Join(dir, "no", "x.db")}, 3, "not_found"},
		"a missing store":         {[]string{"store", "export", "--store", filepath.Join(dir, "x.db")}, 3, "not_found"},
		"PostgreSQL is gone":      {[]string{"store", "export", "--store", "postgres://u:p@127.0.0.1:1/db"}, 6, "upstream"},
		"PostgreSQL is not there": {[]string{"gateway", "--listen", "127.0.0.1:0", "--store", "postgres://u:p@127.0.0.1:1/db"}, 6, "upstream"},
		"no gateway":              {[]string{"windows", "--set", "gateway.listen=127.0.0.1:1"}, 6, "upstream"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := os.ReadFile(closed); name == "no permission" && err == nil {
				t.Skip("this user reads every file")
			}
			var out, errs bytes.Buffer
			if got := run(t.Context(), append(c.args, "--json"), console.Streams{In: strings.NewReader(""), Out: &out, Errs: &errs}); got != c.want {
				t.Errorf("exit code %d, want %d: %s", got, c.want, errs.String())
			}
			if c.code != "" && !strings.Contains(errs.String(), `"code":"`+c.code+`"`) {
				t.Errorf("want code %s: %s", c.code, errs.String())
			}
		})
	}
	for _, args := range [][]string{{"inspect", file}, {"inspect", "--json", file}, {"view", file}, {"version"}, {"help"}} {
		var errs bytes.Buffer
		if got := run(t.Context(), args, console.Streams{In: strings.NewReader(""), Out: full{}, Errs: &errs}); got != 1 || !strings.Contains(errs.String(), syscall.ENOSPC.Error()) {
			t.Errorf("%q on a full disk: exit code %d: %s", args, got, errs.String())
		}
	}
}
