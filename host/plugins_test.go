package host

import (
	"regexp"
	"strings"
	"testing"
)

// pi shows the user errors thrown by an extension's handler, and its ctx throws once the session
// has ended. So every handler is guarded, and none reads ctx after an await.
func TestHandlersOfPiNeverFail(t *testing.T) {
	text, err := plugins.ReadFile("plugins/pi.ts")
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Split(string(text), "  pi.on(")[1:]
	if len(all) < 3 {
		t.Fatalf("%d handlers", len(all))
	}
	for _, handler := range all {
		handler, _, _ = strings.Cut(handler, "\n  }));\n")
		name, rest, _ := strings.Cut(handler, ", ")
		if !strings.HasPrefix(rest, "guarded(async (") {
			t.Errorf("%s is not guarded", name)
		}
		if at := strings.Index(rest, "await "); at >= 0 {
			behind := rest[at:]
			if end := strings.IndexByte(behind, ';'); end >= 0 { // what the awaited call is given is read before
				if m := regexp.MustCompile(`\bctx\b`).FindString(behind[end:]); m != "" {
					t.Errorf("%s reads ctx behind an await: %s", name, behind[end:])
				}
			}
		}
	}
}
