package pgtest

import (
	"errors"
	"os"
	"testing"
)

// RequireEnv names the environment variable that makes missing programs a
// failure instead of a reason to skip.
const RequireEnv = "CI_REQUIRE_POSTGRES"

// ErrMissing says that the programs of PostgreSQL are not installed.
var ErrMissing = errors.New("PostgreSQL's initdb and postgres are not installed")

// SkipOrFail ends the test when Start has returned err: it is skipped for want of the
// programs, and fails for any other reason or when [RequireEnv] is set.
func SkipOrFail(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case errors.Is(err, ErrMissing) && os.Getenv(RequireEnv) == "":
		t.Skip(err)
	default:
		t.Fatal(err)
	}
}
