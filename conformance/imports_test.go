package conformance

import (
	"os/exec"
	"strings"
	"testing"
)

// allowed says which of precis's own packages a room may import, beside those of
// internal. It is the table of docs/architecture.md.
var allowed = map[string][]string{
	"precis":                       {},
	"precis/tokens":                {"precis"},
	"precis/models":                {"precis"},
	"precis/outline":               {},
	"precis/retain":                {"precis"},
	"precis/retain/train":          {"precis", "precis/archive", "precis/archive/formats", "precis/retain"},
	"precis/reduce":                {"precis", "precis/retain"},
	"precis/condense":              {"precis", "precis/outline", "precis/retain"},
	"precis/preset":                {"precis", "precis/condense", "precis/reduce", "precis/retain", "precis/tokens"},
	"precis/wire/anthropic":        {"precis", "precis/wire"},
	"precis/wire/chat":             {"precis", "precis/wire", "precis/wire/anthropic"},
	"precis/wire/responses":        {"precis", "precis/wire", "precis/wire/anthropic", "precis/wire/chat"},
	"precis/wire":                  {"precis"},
	"precis/wire/overflow":         {},
	"precis/provider":              {"precis", "precis/models", "precis/wire", "precis/wire/anthropic", "precis/wire/chat", "precis/wire/overflow", "precis/wire/responses"},
	"precis/provider/providertest": {"precis", "precis/wire/anthropic", "precis/wire/chat", "precis/wire/responses"},
	"precis/gateway":               {"precis", "precis/condense", "precis/gateway/lineage", "precis/gateway/polyfill", "precis/gateway/recall", "precis/models", "precis/preset", "precis/provider", "precis/wire", "precis/wire/anthropic", "precis/wire/chat", "precis/wire/overflow", "precis/wire/responses"},
	"precis/gateway/control":       {"precis", "precis/gateway"},
	"precis/gateway/telemetry":     {"precis", "precis/gateway"},
	"precis/gateway/lineage":       {"precis", "precis/wire"},
	"precis/gateway/polyfill":      {"precis", "precis/wire"},
	"precis/gateway/recall":        {"precis/wire", "precis/wire/anthropic", "precis/wire/chat", "precis/wire/responses"},
	"precis/archive":               {"precis"},
	"precis/archive/archivetest":   {"precis", "precis/archive"},
	"precis/store/memory":          {"precis"},
	"precis/store/sqlite":          {"precis"},
	"precis/store/postgres":        {"precis"},
	"precis/store/transfer":        {"precis"},
	"precis/store/storetest":       {"precis"},
}

func TestImportsPointOneWay(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "precis/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		pkg, rest, _ := strings.Cut(line, " ")
		for _, imp := range strings.Fields(rest) {
			if why := refused(pkg, imp); why != "" {
				t.Errorf("%s imports %s: %s", pkg, imp, why)
			}
		}
	}
}

func refused(pkg, imp string) string {
	own := imp == "precis" || strings.HasPrefix(imp, "precis/")
	switch {
	case pkg == "precis" && (own || strings.Contains(imp, ".")):
		return "the root imports only the standard library"
	case !own || pkg == "precis/conformance" || strings.HasPrefix(pkg, "precis/cmd/") || strings.HasPrefix(pkg, "precis/examples/"):
		return ""
	case strings.HasPrefix(imp, "precis/cmd/") || imp == "precis/conformance":
		return "nothing imports a program or the conformance tests"
	case strings.HasPrefix(pkg, "precis/internal/"), strings.HasPrefix(pkg, "precis/store/internal/"):
		if strings.HasPrefix(imp, "precis/archive") || strings.HasPrefix(imp, "precis/store") && !strings.HasPrefix(imp, "precis/store/internal/") {
			return "internal rooms serve the others"
		}
		return ""
	case strings.HasPrefix(imp, "precis/internal/"):
		return ""
	case strings.HasPrefix(imp, "precis/store/internal/") && strings.HasPrefix(pkg, "precis/store/"):
		return ""
	case pkg == "precis/archive/formats":
		return ""
	case strings.HasPrefix(pkg, "precis/archive/") && pkg != "precis/archive/archivetest":
		if imp == "precis" || imp == "precis/archive" || strings.HasPrefix(imp, "precis/wire/") {
			return ""
		}
		return "a reader imports the root, archive and wire"
	}
	list, known := allowed[pkg]
	if !known {
		return "the room is not in the table"
	}
	for _, a := range list {
		if a == imp {
			return ""
		}
	}
	return "not in the table"
}
