package digest_test

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis/digest"
)

// client is a conversation in which who did what, when and how often is known.
func client() *session {
	s := newSession(11)
	s.user("Raise the timeout of the client to 45 s and listen on port 8081. Never delete anything under data/. I renamed the config key in settings.yaml myself.")
	s.call("Read", map[string]any{"file_path": root + "internal/net/client.go"}, s.source("client.go", 2))
	s.call("Read", map[string]any{"file_path": root + "internal/net/dialer.go"}, s.source("dialer.go", 2))
	s.says("The retry loop does not handle a nil context. The cache is needed for the second request. The dialer reads 17 files before the client starts.")
	s.call("Bash", map[string]any{"command": "npm test 2>&1 | tail -30"}, "Exit code 1\n 2 failing\n  AssertionError: expected 45 to equal 30")
	s.call("Edit", map[string]any{"file_path": root + "internal/net/client.go", "old_string": "timeout = 30", "new_string": "timeout = 45"}, "The file has been updated.")
	s.says("I extracted the connection pool into its own type. The root cause was a stale deadline in the pool.")
	s.call("Bash", map[string]any{"command": "golangci-lint run ./..."}, "0 issues.")
	s.call("Bash", map[string]any{"command": "go build ./..."}, "")
	s.call("Bash", map[string]any{"command": "npm test 2>&1 | tail -30"}, "Exit code 1\n 1 failing\n  AssertionError: expected 45 to equal 44")
	s.user("Good. Please ask me before you touch the dialer, and write the changelog in plain words.")
	s.says("I will ask before touching the dialer.")
	return s
}

// TestRoomsDoubt plants false statements of each kind.
func TestRoomsDoubt(t *testing.T) {
	for kind, statements := range map[string][]string{
		"outcome": {
			"All tests pass.", "`npm test` succeeded.", "The build fails.", "Lint is failing.", "所有测试都通过了。",
			"The changes were pushed to origin.", "git push went through.", "Everything was committed.", "It has been deployed to production.",
			"The full test suite passed, and an earlier lint error was fixed.",
		},
		"number": {"The timeout of the client is 35 s now.", "The dialer reads 71 files before the client starts.", "The client listens on port 8018.", "The timeout of the client was raised to 54 s."},
		"file":   {"Deleted internal/net/client.go.", "Renamed internal/net/client.go to the name of the pool.", "Modified internal/net/dialer.go.", "internal/net/client.go was removed."},
		"path":   {"The lanes live in lanes.go now."},
		"error":  {"The build fails with E9999: quantum flux."},
	} {
		for _, statement := range statements {
			found := doubtsOf(client(), "## Work so far\n"+statement+"\n")
			if len(found) == 0 {
				t.Errorf("%s: %q is not doubted", kind, statement)
				continue
			}
			if kind != "error" && found[0].Kind != kind {
				t.Errorf("%s: %q is doubted as %s: %s", kind, statement, found[0].Kind, found[0].Why)
			}
			if found[0].Why == "" || found[0].Text == "" {
				t.Errorf("%q: nothing says why: %+v", statement, found[0])
			}
		}
	}
}

// TestRoomsLetTrueStatements holds the same statements as they are true.
func TestRoomsLetTrueStatements(t *testing.T) {
	for _, statement := range []string{
		"`npm test` fails: expected 45 to equal 44.", "The tests are failing.", "The build passes.", "Lint is clean.", "Nothing has been pushed.", "Nothing has been committed yet.", "It is not deployed.",
		"The timeout of the client is 45 s now.", "The dialer reads 17 files before the client starts.", "The client listens on port 8081.", "About 30 lines were read.",
		"The retry loop does not handle a nil context.", "The cache is needed for the second request.",
		"The agent extracted the connection pool into its own type.", "I edited internal/net/client.go.", "The user renamed the config key in settings.yaml.",
		"The user wants the timeout of the client raised to 45 s.", "The user does not want anything under data/ to be deleted.", "The user asked to write the changelog in plain words.",
		"Changed internal/net/client.go.", "Read internal/net/dialer.go.", "The root cause was a stale deadline in the pool.",
		"Next: delete the old fixtures and push to origin.", "The agent read client.go and dialer.go.",
	} {
		if found := doubtsOf(client(), "## Work so far\n"+statement+"\n"); len(found) > 0 {
			t.Errorf("%q: %+v", statement, found)
		}
	}
}

// TestSentencesAreNotCompared: whether two sentences contradict each other is not decided. Of statements that only other words
// of the conversation speak against, none is doubted.
func TestSentencesAreNotCompared(t *testing.T) {
	for _, statement := range []string{
		"The retry loop does handle a nil context.", "The cache is not needed for the second request.",
		"The change of client.go was made before reading; the dialer reads 17 files after the client starts.",
		"The user extracted the connection pool into its own type.", "The agent asked to write the changelog in plain words.",
		"The user approved deleting the old fixtures.", "The user prefers tabs over spaces.", "Der Benutzer will Tabulatoren statt Leerzeichen.",
	} {
		if found := doubtsOf(client(), "## Work so far\n"+statement+"\n"); len(found) > 0 {
			t.Errorf("%q: %+v", statement, found)
		}
	}
}

// TestNewestRunsAreTold adds the failure that stands to a summary that is silent on it, and not to one that tells it.
func TestNewestRunsAreTold(t *testing.T) {
	repaired := func(text string) string {
		return digest.Repair(request(client(), text), digest.RepairOptions{}).Text
	}
	if got := repaired("The timeout of the client is 45 s now."); !strings.Contains(got, "## Newest runs that failed") || !strings.Contains(got, "npm test") {
		t.Error(got)
	}
	if got := repaired("The timeout is 45 s now. `npm test` still fails."); strings.Contains(got, "## Newest runs") {
		t.Error(got)
	}
}
