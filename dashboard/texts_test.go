package dashboard

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/diff"
	"github.com/precis-dev/precis/internal/experiments"
	"github.com/precis-dev/precis/internal/texts"
	"github.com/precis-dev/precis/internal/visible"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/verify"
)

// dynamic are the keys that pages put together.
func dynamic(t *testing.T) []string {
	t.Helper()
	var out []string
	add := func(prefix string, names ...string) {
		for _, n := range names {
			out = append(out, prefix+strings.ReplaceAll(n, " ", "_"))
		}
	}
	kinds := []string{}
	for _, k := range []precis.EditKind{
		precis.KindCondensation, precis.KindTruncation, precis.KindPruning, precis.KindDedupe, precis.KindMedia, precis.KindClip, precis.KindThinking,
		precis.KindRewind, precis.KindExclude, precis.KindRestore, precis.KindPin, precis.KindUndo,
	} {
		kinds = append(kinds, string(k))
	}
	add("fold.", kinds...)
	add("kind.", append(kinds, conversation.Kinds()...)...)
	add("kind.", "free", "reserve", "view", "user", "assistant", "system", "tool")
	add("failed.", "title", "condense_not_enough_messages", "condensed_recently", "condense_handler_invalid", "condense_api_failed", "condense_context_grew", "condense_failed", "over_budget", "upstream")
	add("level.", "ok", "near", "due", "over")
	add("state.", string(conversation.Shown), string(conversation.Shortened), string(conversation.Hidden))
	add("part.", diff.PartSame, diff.PartHidden, diff.PartInserted, diff.PartPreview, diff.PartRemoved)
	for _, o := range []precis.Outcome{precis.OutcomeAccepted, precis.OutcomeNothing, precis.OutcomeRefused, precis.OutcomeFailed, precis.OutcomeSkipped} {
		add("outcome.", string(o))
	}
	add("type.", "text", "thinking", "redacted_thinking", "tool_use", "tool_result", "image", "document", "opaque")
	for _, code := range reasonCodes(t) {
		add("reason.", code)
	}
	for _, m := range experiments.WholeMetrics() {
		add("metric.", string(m))
	}
	add("verify.", "contradicts", "invents")
	add("verify.kind.", verify.Kinds...)
	for _, prefix := range []string{"verb.", "about."} {
		add(prefix, "undo", "pin", "restore", "exclude", "reword", "rewind", "branch")
	}
	return out
}

// reasonCodes returns the codes of reasons that the source declares.
func reasonCodes(t *testing.T) []string {
	t.Helper()
	var out []string
	declared := regexp.MustCompile(`(?m)^\t(?:R|r)eason\w+ +(?:precis\.)?Reason += "(\w+)"`)
	for _, path := range []string{"../policy/summarizer.go", "../condense/reason.go"} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range declared.FindAllSubmatch(data, -1) {
			out = append(out, string(m[1]))
		}
	}
	if len(out) < 20 {
		t.Fatalf("only %d codes of reasons are found", len(out))
	}
	return out
}

// used returns the keys that pages and code name.
func used(t *testing.T) []string {
	out := dynamic(t)
	paths, err := fs.Glob(pageFiles, "pages/*.html")
	if err != nil {
		t.Fatal(err)
	}
	key := regexp.MustCompile(`\bt "([a-z._]+)"`)
	for _, path := range paths {
		data, err := pageFiles.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range key.FindAllSubmatch(data, -1) {
			out = append(out, string(m[1]))
		}
	}
	return append(out, "ago.days", "ago.hours", "ago.minutes", "ago.now", "verb.condense")
}

func TestEveryTextIsInEveryLanguage(t *testing.T) {
	all, err := texts.Read()
	if err != nil {
		t.Fatal(err)
	}
	keys := used(t)
	verb := regexp.MustCompile(`%(\[\d\])?[a-z]`)
	for _, lang := range texts.Languages() {
		for _, key := range keys {
			if all[lang][key] == "" {
				t.Errorf("%s lacks %q", lang, key)
			}
		}
		for key, text := range all[lang] {
			want, got := verb.FindAllString(all["en"][key], -1), verb.FindAllString(text, -1)
			if len(want) != len(got) || !strings.Contains(text, "%[") && !slices.Equal(want, got) {
				t.Errorf("%s: %q takes %v, in English %v", lang, key, got, want)
			}
		}
		if missing := len(all["en"]) - len(all[lang]); missing != 0 {
			t.Errorf("%s lacks %d texts", lang, missing)
		}
	}
	// Those that code names alone, in a few places, are not looked for.
	code := []string{"error.title", "jump.title", "login.title", "readonly", "readonly.stranger", "overview.title", "search.title", "settings.title", "compare.title", "costs.title"}
	for key := range maps.Keys(all["en"]) {
		if !strings.HasPrefix(key, "cli.") && !slices.Contains(keys, key) && !slices.Contains(code, key) {
			t.Errorf("nothing uses %q", key)
		}
	}
}

func TestDiffRows(t *testing.T) {
	var long []string
	for i := range 60 {
		long = append(long, fmt.Sprint("line ", i))
	}
	for _, tt := range []struct{ was, now, want string }{
		{"a\nb\nc", "a\nx\nc", "a|a -b|+x c|c"},
		{"a\nb\nc\nd", "b\nd", "-a| b|b -c| d|d"},
		{"x\ny\na", "z\na", "-x|+z -y| a|a"},
		{"a", "a", "a|a"},
		{strings.Join(long, "\n"), "line 0\nshort\nline 59", "line 0|line 0 -line 1|+short -line 2| -line 3| -line 4| -line 5| -line 6| -line 7| -line 8| ~42| -line 51| -line 52| -line 53| -line 54| -line 55| -line 56| -line 57| -line 58| line 59|line 59"},
	} {
		var got []string
		text := func(c cell) string {
			switch c.Op {
			case "gone":
				return "-" + c.Text
			case "new":
				return "+" + c.Text
			case "gap":
				return fmt.Sprint("~", c.Gap)
			}
			return c.Text
		}
		for _, r := range diffRows(tt.was, tt.now) {
			got = append(got, text(r.Was)+"|"+text(r.Now))
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%q → %q:\n got %s\nwant %s", tt.was, tt.now, s, tt.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for got, want := range map[string]string{
		masked("a b-1é."):           "• •-••.",
		visible.FirstBytes("aé", 2): "a", brief("a  b\nc", 3): "a b…",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// The legend of a bar adds up to the window, also where the view leaves no room for the
// whole reserve.
func TestBarsAddUp(t *testing.T) {
	for _, used := range []int{0, 60, 95, 130} {
		c := conversation.Composition{Used: used, Window: precis.Window{Tokens: 100}, Reserve: policy.Reserve{Tokens: 10}, Threshold: 75, Free: max(90-used, 0), Reserved: max(min(10, 100-used), 0),
			Kinds: []conversation.KindTokens{{Kind: conversation.KindUser, Tokens: used}}}
		b := newBar(c)
		sum := b.Free + b.Reserve.Tokens
		for _, s := range b.Segments {
			sum += s.Tokens
		}
		if sum != max(100, used) || sum != b.Sum() {
			t.Errorf("%d used: the parts make %d, the sum is %d", used, sum, b.Sum())
		}
	}
}
