package conformance

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// allowed says which of precis's own packages a room may import, apart from those
// of internal. It is the only table of imports; docs/architecture.md refers to it.
var allowed = map[string][]string{
	"precis":                               {"precis/internal/harness", "precis/internal/number"},
	"precis/internal/number":               {},
	"precis/policy":                        {"precis", "precis/inforce", "precis/measure"},
	"precis/measure":                       {"precis"},
	"precis/inforce":                       {"precis", "precis/measure"},
	"precis/internal/harness":              {},
	"precis/model":                         {"precis"},
	"precis/store":                         {"precis"},
	"precis/tokens":                        {"precis"},
	"precis/models":                        {"precis"},
	"precis/outline":                       {},
	"precis/retain":                        {"precis", "precis/measure", "precis/policy"},
	"precis/workstate":                     {"precis", "precis/inforce", "precis/policy", "precis/retain"},
	"precis/reduce":                        {"precis", "precis/policy", "precis/retain", "precis/workstate"},
	"precis/verify":                        {"precis", "precis/retain", "precis/workstate"},
	"precis/digest/effects":                {"precis", "precis/workstate"},
	"precis/digest/requests":               {"precis", "precis/retain"},
	"precis/digest":                        {"precis", "precis/digest/effects", "precis/digest/requests", "precis/policy", "precis/retain", "precis/verify", "precis/workstate"},
	"precis/condense":                      {"precis", "precis/digest", "precis/model", "precis/outline", "precis/policy", "precis/retain", "precis/store"},
	"precis/preset":                        {"precis", "precis/condense", "precis/digest", "precis/outline", "precis/policy", "precis/reduce", "precis/retain", "precis/tokens", "precis/workstate"},
	"precis/wire/anthropic":                {"precis", "precis/wire"},
	"precis/wire/chat":                     {"precis", "precis/wire", "precis/wire/anthropic"},
	"precis/wire/responses":                {"precis", "precis/wire", "precis/wire/anthropic", "precis/wire/chat"},
	"precis/wire":                          {"precis"},
	"precis/wire/overflow":                 {},
	"precis/provider":                      {"precis", "precis/model", "precis/models", "precis/wire", "precis/wire/anthropic", "precis/wire/chat", "precis/wire/overflow", "precis/wire/responses"},
	"precis/provider/providertest":         {"precis", "precis/model", "precis/wire/anthropic", "precis/wire/chat", "precis/wire/responses"},
	"precis/gateway":                       {"precis", "precis/condense", "precis/conversation", "precis/digest", "precis/gateway/accounts", "precis/gateway/admission", "precis/gateway/asked", "precis/gateway/bridge", "precis/gateway/hold", "precis/gateway/homes", "precis/gateway/inprocess", "precis/gateway/intent", "precis/gateway/lineage", "precis/gateway/polyfill", "precis/gateway/profiles", "precis/gateway/reasoning", "precis/gateway/recall", "precis/gateway/registry", "precis/gateway/splice", "precis/gateway/tool", "precis/gateway/unmanaged", "precis/gateway/upstream", "precis/gateway/windows", "precis/measure", "precis/models", "precis/policy", "precis/preset", "precis/store", "precis/wire", "precis/wire/anthropic", "precis/wire/chat", "precis/wire/overflow", "precis/wire/responses"},
	"precis/gateway/accounts":              {"precis", "precis/gateway/upstream", "precis/store"},
	"precis/gateway/inprocess":             {"precis"},
	"precis/gateway/homes":                 {"precis", "precis/conversation", "precis/conversation/shelf", "precis/gateway/hold", "precis/gateway/lineage", "precis/gateway/profiles", "precis/gateway/reasoning", "precis/gateway/registry", "precis/gateway/upstream", "precis/gateway/windows", "precis/measure", "precis/policy", "precis/store", "precis/wire/anthropic"},
	"precis/gateway/reasoning":             {"precis/wire"},
	"precis/gateway/profiles":              {"precis", "precis/policy", "precis/preset", "precis/store"},
	"precis/gateway/upstream":              {"precis/gateway/intent", "precis/gateway/polyfill", "precis/gateway/unmanaged", "precis/wire", "precis/wire/anthropic", "precis/wire/chat", "precis/wire/responses"},
	"precis/gateway/unmanaged":             {"precis", "precis/gateway/admission", "precis/gateway/lineage"},
	"precis/gateway/hold":                  {"precis", "precis/conversation"},
	"precis/gateway/windows":               {"precis", "precis/conversation", "precis/gateway/upstream", "precis/store"},
	"precis/gateway/admission":             {"precis"},
	"precis/gateway/intent":                {"precis", "precis/wire", "precis/wire/anthropic", "precis/wire/responses"},
	"precis/gateway/ownmodel":              {"precis", "precis/gateway", "precis/model", "precis/models", "precis/policy", "precis/provider"},
	"precis/gateway/control":               {"precis", "precis/conversation", "precis/conversation/ledger", "precis/gateway", "precis/gateway/admission", "precis/gateway/lineage", "precis/gateway/profiles", "precis/gateway/unmanaged", "precis/gateway/windows", "precis/policy", "precis/store", "precis/wire", "precis/wire/anthropic", "precis/wire/chat", "precis/wire/responses"},
	"precis/gateway/telemetry":             {"precis", "precis/gateway", "precis/gateway/registry", "precis/policy"},
	"precis/conversation":                  {"precis", "precis/conversation/block", "precis/conversation/diff", "precis/digest", "precis/measure", "precis/policy", "precis/retain", "precis/store", "precis/verify", "precis/wire", "precis/wire/anthropic", "precis/wire/chat", "precis/wire/responses"},
	"precis/conversation/recording":        {"precis", "precis/archive", "precis/archive/formats", "precis/archive/roo", "precis/conversation", "precis/conversation/shelf", "precis/measure", "precis/policy", "precis/store"},
	"precis/conversation/conversationtest": {"precis", "precis/conversation", "precis/conversation/handoff", "precis/policy", "precis/preset", "precis/store"},
	"precis/conversation/handoff":          {"precis", "precis/conversation", "precis/digest", "precis/digest/effects", "precis/retain"},
	"precis/conversation/block":            {"precis"},
	"precis/conversation/diff":             {"precis", "precis/conversation/block", "precis/measure", "precis/policy"},
	"precis/conversation/find":             {"precis", "precis/conversation", "precis/conversation/block", "precis/store"},
	"precis/conversation/ledger":           {"precis", "precis/conversation", "precis/store"},
	"precis/conversation/shelf":            {"precis", "precis/conversation", "precis/policy", "precis/store"},
	"precis/dashboard":                     {"precis", "precis/conversation", "precis/conversation/block", "precis/conversation/diff", "precis/conversation/ledger", "precis/digest", "precis/policy", "precis/verify"},
	"precis/keeper":                        {"precis", "precis/conversation", "precis/gateway", "precis/models", "precis/outline", "precis/policy", "precis/preset", "precis/store/sqlite", "precis/wire/anthropic"},
	"precis/host":                          {"precis"},
	"precis/host/hook":                     {"precis", "precis/archive", "precis/archive/claudecode", "precis/archive/formats", "precis/archive/gemini", "precis/archive/pi", "precis/conversation", "precis/digest", "precis/gateway", "precis/policy", "precis/preset", "precis/retain", "precis/wire/anthropic", "precis/wire/chat"},
	"precis/mcpserver":                     {"precis", "precis/conversation", "precis/conversation/diff", "precis/conversation/find", "precis/conversation/handoff", "precis/digest", "precis/policy", "precis/store", "precis/verify"},
	"precis/gateway/lineage":               {"precis", "precis/store", "precis/wire"},
	"precis/gateway/polyfill":              {"precis", "precis/digest", "precis/gateway/intent", "precis/measure", "precis/policy", "precis/wire", "precis/wire/anthropic", "precis/wire/responses"},
	"precis/gateway/bridge":                {"precis", "precis/digest", "precis/gateway/registry", "precis/policy", "precis/retain", "precis/wire", "precis/wire/anthropic", "precis/wire/chat"},
	"precis/gateway/recall":                {"precis", "precis/gateway/tool", "precis/measure", "precis/policy"},
	"precis/gateway/asked":                 {"precis", "precis/conversation", "precis/gateway/tool", "precis/policy"},
	"precis/gateway/tool":                  {"precis/wire", "precis/wire/anthropic", "precis/wire/chat", "precis/wire/responses"},
	"precis/gateway/splice":                {"precis", "precis/policy", "precis/wire", "precis/wire/anthropic"},
	"precis/gateway/registry":              {"precis", "precis/gateway/lineage", "precis/gateway/splice", "precis/measure", "precis/policy", "precis/store", "precis/wire/anthropic"},
	"precis/conversation/export":           {"precis", "precis/conversation", "precis/conversation/block"},
	"precis/sessions":                      {"precis", "precis/archive", "precis/archive/formats", "precis/archive/opencode/database", "precis/archive/roo", "precis/conversation", "precis/conversation/find", "precis/models", "precis/policy", "precis/store"},
	"precis/archive":                       {"precis"},
	"precis/archive/archivetest":           {"precis", "precis/archive"},
	"precis/store/memory":                  {"precis", "precis/store"},
	"precis/store/sqlite":                  {"precis", "precis/store"},
	"precis/store/postgres":                {"precis", "precis/store"},
	"precis/store/transfer":                {"precis", "precis/store"},
	"precis/store/storetest":               {"precis", "precis/policy", "precis/store"},
}

func TestImportsPointOneWay(t *testing.T) {
	// Whatever the path of the module is, it is called precis here.
	const each = "{{.ImportPath}} {{.Module.Path}} {{join .Imports \" \"}}"
	cmd := exec.Command("go", "list", "-f", each, "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		words := strings.Fields(line)
		module := words[1]
		pkg := called(words[0], module)
		for _, imp := range words[2:] {
			imp = called(imp, module)
			if why := refused(pkg, imp); why != "" {
				t.Errorf("%s imports %s: %s", pkg, imp, why)
			}
		}
	}
}

// called returns the path of a package with precis in the place of the module's.
func called(path, module string) string {
	if path == module {
		return "precis"
	}
	if rest, ok := strings.CutPrefix(path, module+"/"); ok {
		return "precis/" + rest
	}
	return path
}

func refused(pkg, imp string) string {
	own := imp == "precis" || strings.HasPrefix(imp, "precis/")
	switch {
	case (pkg == "precis" || slices.Contains(allowed["precis"], pkg)) && strings.Contains(imp, "."):
		return "the root and what it is made of import only the standard library"
	case !own || pkg == "precis/conformance" || strings.HasPrefix(pkg, "precis/cmd/") || strings.HasPrefix(pkg, "precis/examples/"):
		return ""
	case strings.HasPrefix(imp, "precis/cmd/") || imp == "precis/conformance":
		return "nothing imports a program or the conformance tests"
	case pkg != "precis/internal/harness" && strings.HasPrefix(pkg, "precis/internal/"), strings.HasPrefix(pkg, "precis/store/internal/"):
		if strings.HasPrefix(imp, "precis/archive") || strings.HasPrefix(imp, "precis/store/") && !strings.HasPrefix(imp, "precis/store/internal/") {
			return "internal rooms serve the others"
		}
		return ""
	case pkg != "precis" && strings.HasPrefix(imp, "precis/internal/"):
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
