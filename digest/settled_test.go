package digest_test

import (
	"strings"
	"testing"

	"precis"
)

// TestWhatWasActedOnSince: what was wrong when the agent said so, and was acted on since, says so.
func TestWhatWasActedOnSince(t *testing.T) {
	const said = "The tests of the parser fail because `parseHost` drops the port of an address."
	before := []precis.Message{precis.NewText(precis.RoleUser, "Mend the parser.")}
	before = append(before, announcedCall("1", "Bash", `{"command":"go test ./parse"}`, "--- FAIL: TestHost (0.00s)\n    host_test.go:7: got a\nFAIL\nexit status 1", true)...)
	before = append(before, precis.NewText(precis.RoleAssistant, said))
	edit := announcedCall("2", "Edit", `{"file_path":"/w/parse/host.go","old_string":"h, _ := parseHost(s)\nreturn h","new_string":"h, p := parseHost(s)\nreturn h + p"}`, "The file has been updated.", false)
	other := announcedCall("3", "Edit", `{"file_path":"/w/view/page.go","old_string":"title","new_string":"heading"}`, "The file has been updated.", false)
	failedEdit := announcedCall("2", "Edit", `{"file_path":"/w/parse/host.go","old_string":"parseHost(x)","new_string":"parseHost(y)"}`, "String to replace not found in file.", true)
	passed := announcedCall("4", "Bash", `{"command":"go test ./..."}`, "ok parse 0.01s", false)
	elsewhere := announcedCall("4", "Bash", `{"command":"go test ./view"}`, "ok view 0.01s", false)
	again := announcedCall("5", "Bash", `{"command":"go test ./parse"}`, "--- FAIL: TestHost (0.00s)\nFAIL\nexit status 1", true)
	fileEdit := func(path string) []precis.Message {
		return announcedCall("6", "Edit", `{"file_path":"`+path+`","old_string":"title","new_string":"heading"}`, "The file has been updated.", false)
	}
	word, part, whole := fileEdit("/w/an"), fileEdit("/w/ress"), fileEdit("/w/address")
	end := []precis.Message{precis.NewText(precis.RoleUser, "Go on."), precis.NewText(precis.RoleAssistant, "The next thing is the view.")}
	for name, c := range map[string]struct {
		then [][]precis.Message
		want string
	}{
		"edited":                            {[][]precis.Message{edit}, "[edited since: host.go, m4]"},
		"another file":                      {[][]precis.Message{other}, ""},
		"not edited":                        {[][]precis.Message{failedEdit}, ""},
		"passed":                            {[][]precis.Message{passed}, "[passed since, at m4]"},
		"another run":                       {[][]precis.Message{elsewhere}, ""},
		"failed again":                      {[][]precis.Message{passed, again}, ""},
		"edited, passed":                    {[][]precis.Message{edit, passed}, "[passed since, at m6] [edited since: host.go, m4]"},
		"nothing happened":                  {nil, ""},
		"a file that a word is the name of": {[][]precis.Message{word, part}, ""},
		"a file that is named":              {[][]precis.Message{whole}, "[edited since: address, m4]"},
	} {
		msgs := before
		for _, m := range c.then {
			msgs = append(msgs[:len(msgs):len(msgs)], m...)
		}
		got := digested(t, 1500, append(msgs[:len(msgs):len(msgs)], end...)...)
		var line string
		for l := range strings.Lines(got) {
			if strings.Contains(l, said) && strings.HasPrefix(l, "- m3: ") {
				line = strings.TrimSpace(strings.TrimPrefix(l, "- m3: "+said))
			}
		}
		if line != c.want || !strings.Contains(got, said) {
			t.Errorf("%s: %q, not %q in\n%s", name, line, c.want, got)
		}
	}
}

// TestWhatWasDoneInTheSameMessage: what the agent does right behind its words counts, and an entry that says what to do is one of them.
func TestWhatWasDoneInTheSameMessage(t *testing.T) {
	edit := announcedCall("1", "Edit", `{"file_path":"/w/parse/host.go","old_string":"h, _ := parseHost(s)","new_string":"h, p := parseHost(s)"}`, "The file has been updated.", false)
	edit[0].Content = append([]precis.Block{precis.Text{Text: "The plan for the parser, in the order of what breaks first:\n1. Update the callers of `parseHost` for the port\n2. Name the port in the view"}}, edit[0].Content...)
	msgs := append([]precis.Message{precis.NewText(precis.RoleUser, "Mend the parser.")}, edit...)
	msgs = append(msgs, precis.NewText(precis.RoleUser, "Go on."), precis.NewText(precis.RoleAssistant, "The next thing is the view."))
	if got := digested(t, 1500, msgs...); !strings.Contains(got, "Update the callers of `parseHost` for the port [edited at once: host.go]") {
		t.Error(got)
	}
}
