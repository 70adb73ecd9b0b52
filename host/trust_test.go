package host_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/host"
)

// TestMain is Codex's app server when it is called as such.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "app-server" {
		appServer(os.Getenv("PRECIS_TEST_CODEX"))
		return
	}
	os.Exit(m.Run())
}

// appServer answers like Codex: trust has the value last written. With "refuses" writes fail, with
// "empty" there is no hook, and with "ends" there is no answer.
func appServer(how string) {
	if how == "ends" {
		return
	}
	trust := "untrusted"
	fmt.Println("not JSON")
	for s := bufio.NewScanner(os.Stdin); s.Scan(); {
		var in struct {
			ID     int
			Method string
			Params struct {
				Edits []struct {
					KeyPath string
					Value   map[string]struct {
						Hash string `json:"trusted_hash"`
					}
				}
			}
		}
		if json.Unmarshal(s.Bytes(), &in) != nil || in.ID == 0 {
			continue
		}
		fmt.Println(`{"method":"some/notice","params":{}}`)
		switch {
		case in.Method == "hooks/list" && how != "empty":
			fmt.Printf(`{"id":%d,"result":{"data":[{"hooks":[{"key":"other","currentHash":"o","trustStatus":"trusted","command":"other hook codex session-start"},{"key":"k","currentHash":"h","trustStatus":%q,"command":"'/opt/a b/precis' hook codex session-start"}]}]}}`+"\n", in.ID, trust)
		case in.Method == "config/batchWrite" && how == "refuses":
			fmt.Printf(`{"id":%d,"error":{"message":"no"}}`+"\n", in.ID)
		case in.Method == "config/batchWrite":
			if e := in.Params.Edits; len(e) == 1 && e[0].KeyPath == "hooks.state" && len(e[0].Value) == 1 && e[0].Value["k"].Hash == "h" {
				_ = os.WriteFile(os.Getenv("PRECIS_TEST_TRUST"), nil, 0o600) // read by the test
			}
			fallthrough
		default:
			fmt.Printf(`{"id":%d,"result":{}}`+"\n", in.ID)
		}
	}
}

func TestTrust(t *testing.T) {
	for how, want := range map[string]string{"": "", "refuses": "config/batchWrite: no", "empty": "not in Codex's list", "ends": "EOF", "missing": "not found"} {
		m := newMachine(t)
		m.Find = func(string) (string, error) {
			if how == "missing" {
				return "", errors.New("not found")
			}
			return os.Executable()
		}
		written := m.Home + "/trusted"
		t.Setenv("PRECIS_TEST_CODEX", how)
		t.Setenv("PRECIS_TEST_TRUST", written)
		err := host.TrustCodex(t.Context(), m)
		if want == "" {
			if _, missing := os.Stat(written); err != nil || missing != nil {
				t.Errorf("%v, %v", err, missing)
			}
			if trusted, err := host.CodexTrusts(t.Context(), m); err != nil || trusted {
				t.Errorf("trusted: %v, %v", trusted, err)
			}
			continue
		}
		if e, ok := errors.AsType[*precis.Error](err); !ok || e.Code != precis.CodeUpstream || e.Hint == "" {
			t.Errorf("%s: %v", how, err)
		} else if !strings.Contains(err.Error(), want) && how != "ends" {
			t.Errorf("%s: %v, want %s", how, err, want)
		}
	}
}
