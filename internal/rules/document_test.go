package rules

import (
	"strings"
	"testing"
)

// plan is a specification in Markdown, over 1,000 bytes, with a prohibition.
const plan = `# Cache rework

## Context

The cache is read on every request. Two bugs make it slow.

## Bug 1: stale keys

Keys are kept after the entry is gone. All entries must be dropped with their key.
Don't emit an event for them.

## Bug 2: no limit

No limit is kept. The limit must never exceed the configured size.

## Steps

- **Store**: use a ring for the keys
- **Reader**: always look at the ring first
- **Writer**: only touch the ring under the lock

`

func TestDocumentsSetNoRules(t *testing.T) {
	filling := strings.Repeat("The store keeps what was read last, and the reader asks it before the disk.\n", 10)
	chat := "Copy\nEdit\nmake all\n" + filling + "Never edit the lock file.\nCopy\nEdit\nmake test\n" + filling
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"a plan":                           {"Implement this, and never push.\n\n" + plan + filling + plan, []string{"Implement this, and never push."}},
		"a plan with words behind it":      {"Implement this:\n\n" + plan + filling + "\n## End\nDone.\n\nNever push to main.", []string{"Never push to main."}},
		"an answer copied from a chat":     {"Here is a fix:\n" + chat + "\n\nDo not push it.", []string{"Do not push it."}},
		"comments of a template":           {"Fix it.\n<!-- Always search first. -->\nNever push.", []string{"Never push."}},
		"a report":                         {"<issue_description>\nNever close it.\n</issue_description>\nDo not edit the tests.", []string{"Do not edit the tests."}},
		"a message of PowerShell":          {"pnpm : The term is not recognized. Check the name, or\nalways verify the path.\nAt line:1 char:1\n+ pnpm build\n\nNever use pnpm.", []string{"Never use pnpm."}},
		"a list of one's own":              {"# Rules\n- Never push to main.\n- Only use tabs.\n", []string{"Never push to main.", "Only use tabs."}},
		"a plan that ends with a list":     {"Implement this:\n\n" + plan + filling + "\n## Checks\n\n1. run the tests, they must pass\n2. ensure no lint errors, never skip one\n\nOne more thing.\n\n- never push to main\n", []string{"never push to main"}},
		"an issue between labels":          {"Solve this.\nISSUE:\nThe cache must never be asked twice. Never ask it.\nINSTRUCTIONS:\nNever edit the tests.", []string{"Never edit the tests."}},
		"pages of a manual":                {"Have a look.\n<doc>\nNever edit the lock file.\n</doc>\n<doc>\nAlways ask first.\n</doc>\nDo not push.", []string{"Do not push."}},
		"a page that speaks to its reader": {strings.ReplaceAll(plan, "The ", "You know that the ") + filling[:400] + "You must never push.\n## End\n", nil},
	} {
		got := Texts(c.text)
		if c.want == nil { // all that it sets
			if len(got) < 4 {
				t.Errorf("%s: got %q", name, got)
			}
			continue
		}
		if strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestSectionOfRulesInDocument(t *testing.T) {
	text := plan + strings.Repeat("The store keeps what was read last.\n", 20) + "\n## Ground rules\n\n- Never push to main.\n\n## End\n\nAll of it must be fast.\n\n## Later\n"
	if got := Texts(text); len(got) != 1 || got[0] != "Never push to main." {
		t.Errorf("got %q", got)
	}
}

func TestWhatIsSaidByTheWayAndForAWhileSetsNoRule(t *testing.T) {
	for _, text := range []string{
		"It yields a proof, or an example that the developer must look at.", "The table holds a key which all readers must know.", "Let's not jump to conclusions just yet.", "Don't push it yet.", "Ne pousse pas encore.",
	} {
		if got := Texts(text); len(got) > 0 {
			t.Errorf("%q sets %q", text, got)
		}
	}
	for _, text := range []string{"All files that you write must have a header.", "Any test that fails must be reported.", "Never push what is not reviewed yet by me."} {
		if got := Texts(text); len(got) != 1 {
			t.Errorf("%q sets %q", text, got)
		}
	}
}
