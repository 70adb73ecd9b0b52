package reduce_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/reduce"
)

// tight is a situation in which the view must come down by cut characters. Its
// window is what the conversation fills.
func tight(cut, keep int, msgs ...precis.Message) *policy.Situation {
	s := situation(0, keep, msgs...)
	s.Target, s.Limit = s.Used-cut, s.Used-cut
	s.Budget.Window.Tokens = s.Used
	return s
}

// asked wraps messages in a task and a next request.
func asked(parts ...any) []precis.Message {
	return join(append(append([]any{text("user", "go")}, parts...), text("assistant", "done"), text("user", "next"))...)
}

func goFile() string {
	var b strings.Builder
	b.WriteString("package cart\n\nimport \"fmt\"\n\n")
	for i := range 24 {
		fmt.Fprintf(&b, "// AddItem%d adds to the cart what the customer of shop %d chose.\nfunc AddItem%d(cart *Cart, id int) error {\n", i, i, i)
		for k := range 6 {
			fmt.Fprintf(&b, "\tif cart.total > %d {\n\t\tfmt.Println(cart.total, %d)\n\t}\n", k*100+i, k)
		}
		b.WriteString("\treturn nil\n}\n\n")
	}
	return b.String()
}

func jsonDocument() string {
	var items []map[string]any
	for i := range 60 {
		items = append(items, map[string]any{"order_number": 1000 + i, "customer_name": fmt.Sprint("customer ", i), "note": strings.Repeat("no words ", 9)})
	}
	raw, _ := json.MarshalIndent(map[string]any{"orders": items, "next_page_token": "tok", "total_count": 60}, "", "  ")
	return string(raw)
}

func testLog() string {
	var b strings.Builder
	for i := range 120 {
		fmt.Fprintf(&b, "=== RUN   TestCart%d\n--- PASS: TestCart%d (0.00s)\n", i, i)
	}
	b.WriteString("=== RUN   TestCheckoutRounds\n    checkout_test.go:41: got 12.34, want 12.35\n--- FAIL: TestCheckoutRounds (0.02s)\n")
	for i := range 120 {
		fmt.Fprintf(&b, "=== RUN   TestOrder%d\n--- PASS: TestOrder%d (0.00s)\n", i, i)
	}
	return b.String() + "FAIL\nFAIL\tshop/cart\t0.31s\n"
}

func searchHits() string {
	var b strings.Builder
	for i := range 90 {
		fmt.Fprintf(&b, "internal/cart/file%d.go:%d:\treturn cart.Total(ctx, items, %d)\n", i/10, i*3, i)
	}
	return b.String()
}

func patch() string {
	var b strings.Builder
	for i := range 6 {
		fmt.Fprintf(&b, "diff --git a/src/part%d.go b/src/part%d.go\n--- a/src/part%d.go\n+++ b/src/part%d.go\n@@ -1,22 +1,22 @@ func Part%d() {\n", i, i, i, i, i)
		for k := range 20 {
			fmt.Fprintf(&b, " \tkeep(%d, %d)\n", i, k)
		}
		b.WriteString("-\told := 1\n+\tfresh := 2\n }\n }\n")
	}
	return b.String()
}

func listing() string {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "./internal/cart/part%d/file%d.go\n", i%7, i)
	}
	return b.String()
}

func TestPruneKeepsWhatMattersByKind(t *testing.T) {
	for _, tt := range []struct {
		kind, tool, input, output string
		want                      []string
		least                     int            // of what matches
		matches                   *regexp.Regexp // counted
	}{
		{"code", "read_file", `{"path":"cart.go"}`, goFile(), []string{"Go source"}, 18, regexp.MustCompile(`func AddItem\d+\(`)},
		{"json", "fetch", `{"url":"orders"}`, jsonDocument(), []string{"order_number", "customer_name", "total_count"}, 0, nil},
		{"log", "bash", `{"command":"go test ./..."}`, testLog(), []string{"TestCheckoutRounds", "got 12.34, want 12.35", "FAIL\tshop/cart"}, 0, nil},
		{"search", "grep", `{"pattern":"Total"}`, searchHits(), []string{"90"}, 5, regexp.MustCompile(`file\d\.go`)},
		{"diff", "bash", `{"command":"git diff"}`, patch(), []string{"src/part0.go", "src/part5.go", "fresh := 2"}, 0, nil},
		{"listing", "bash", `{"command":"find ."}`, listing(), []string{"200", "internal/cart"}, 0, nil},
	} {
		s := tight(len(tt.output)*6/10, 1, asked(call("1", tt.tool, tt.input, tt.output))...)
		got := result(apply(t, reduce.Prune{}, s), 2)
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is not in the preview:\n%s", tt.kind, want, got)
			}
		}
		if tt.matches != nil {
			if n := len(tt.matches.FindAllString(got, -1)); n < tt.least {
				t.Errorf("%s: %d of %s, want %d:\n%s", tt.kind, n, tt.matches, tt.least, got)
			}
		}
		if len(got) > len(tt.output)/2 || !strings.Contains(got, "m2.b0") {
			t.Errorf("%s: %d of %d characters left, handle %t", tt.kind, len(got), len(tt.output), strings.Contains(got, "m2.b0"))
		}
	}
}

var blockHandle = regexp.MustCompile(`m\d+\.b\d+`)

// handles returns the block handles in what a replacement shows.
func handles(b precis.Block) []precis.Handle {
	text := ""
	switch b := b.(type) {
	case precis.Text:
		text = b.Text
	case precis.ToolResult:
		text = b.Text()
	case precis.ToolUse:
		text = string(b.Input)
	}
	var out []precis.Handle
	for _, found := range blockHandle.FindAllString(text, -1) {
		h, err := precis.ParseHandle(found)
		if err == nil && !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	return out
}

// everything is a conversation with every kind of old content.
func everything() []precis.Message {
	write, _ := json.Marshal(map[string]any{"path": "cart.go", "content": goFile()})
	return asked(
		call("1", "read_file", `{"path":"cart.go"}`, goFile()), call("2", "fetch", `{"url":"orders"}`, jsonDocument()),
		call("3", "bash", `{"command":"go test ./..."}`, testLog()), call("4", "write_file", string(write), "ok"),
		call("5", "grep", `{"pattern":"Total"}`, searchHits()), call("6", "bash", `{"command":"git diff"}`, patch()),
		text("user", "Look at this:\n```go\n"+goFile()+"```\nand say what is wrong."),
		text("assistant", "I would write\n```go\n"+goFile()+"```\ninstead."),
		text("assistant", "I write it.\n\n<write_to_file>\n<path>a.go</path>\n<content>\n"+goFile()+"</content>\n</write_to_file>"), text("user", "[write_to_file for 'a.go'] Result:\n"+testLog()))
}

func TestPrunedBlocksNameTheOriginal(t *testing.T) {
	s := tight(0, 1, everything()...)
	s.Target = s.Used / 4
	e, err := reduce.Prune{}.Propose(context.Background(), s)
	if err != nil || len(e.Replace) < 9 {
		t.Fatalf("%d replacements, %v", len(e.Replace), err)
	}
	for _, r := range e.Replace {
		h := precis.BlockHandle(r.From, r.Block.Index)
		if got := handles(r.WithBlock); !slices.Equal(got, []precis.Handle{h}) {
			t.Errorf("the preview of %s names %v", h, got)
			continue
		}
		shown, err := s.Transcript.Read(h)
		if err != nil || len(shown) != 1 || len(shown[0].Content) != 1 || precis.HashBlock(shown[0].Content[0]) != r.Block.Hash {
			t.Errorf("%s does not read the original (%v)", h, err)
		}
	}
}

// managed records an edit that a rung proposes.
func managed(t *testing.T, s *policy.Situation, rung policy.Strategy) (*policy.Manager, *precis.Conversation) {
	t.Helper()
	m, err := policy.NewManager(policy.Options{Counter: counter{}, Strategies: []policy.Strategy{rung}})
	if err != nil {
		t.Fatal(err)
	}
	conv := &precis.Conversation{Transcript: s.Transcript}
	if _, err := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: s.Used}, Target: policy.Tokens(s.Target), TriggeredBy: precis.TriggeredManual}); err != nil && precis.CodeOf(err) != precis.CodeOverBudget {
		t.Fatal(err)
	}
	if len(conv.Edits) == 0 {
		t.Fatal("nothing was done")
	}
	return m, conv
}

func TestPrunedBlocksAreRestored(t *testing.T) {
	s := tight(0, 1, everything()...)
	s.Target = s.Used / 3
	m, conv := managed(t, s, reduce.Prune{})
	for _, r := range conv.Edits[0].Replace {
		if _, err := m.Restore(t.Context(), conv, precis.BlockHandle(r.From, r.Block.Index)); err != nil {
			t.Fatal(err)
		}
	}
	view := precis.View(conv.Transcript, conv.Edits)
	for i, want := range conv.Transcript.Messages() {
		if precis.HashMessage(view[i]) != precis.HashMessage(want) {
			t.Errorf("message %d is not as it was said", i)
		}
	}
}

func TestPruneSparesShortErrors(t *testing.T) {
	failed := func(id string, n int) []precis.Message {
		m := call(id, "bash", `{"command":"make"}`, strings.Repeat("make: something is wrong here\n", n/30))
		r := m[1].Content[0].(precis.ToolResult)
		r.IsError = true
		m[1].Content[0] = r
		return m
	}
	s := situation(0, 1, asked(failed("1", 3900), failed("2", 4500), call("3", "bash", `{"command":"ls"}`, listing()))...)
	for _, tool := range []policy.ToolPolicy{{}, {Over: 300}} {
		s.Settings.Tools = map[string]policy.ToolPolicy{"bash": tool}
		view := apply(t, reduce.Prune{}, s)
		if result(view, 2) != result(s.Transcript.Messages(), 2) {
			t.Errorf("%+v: an error of %d characters was cut", tool, len(result(s.Transcript.Messages(), 2)))
		}
		if len(result(view, 4)) > 4000 || len(result(view, 6)) > 4000 {
			t.Errorf("%+v: the long error and the listing have %d and %d characters", tool, len(result(view, 4)), len(result(view, 6)))
		}
		if r := view[4].Content[0].(precis.ToolResult); !r.IsError || r.ToolUseID != "2" {
			t.Errorf("the preview of an error is %+v", r)
		}
	}
}

func TestPruneObeysToolPolicies(t *testing.T) {
	msgs := asked(call("1", "grep", `{"q":"a"}`, searchHits()), call("2", "grep", `{"q":"b"}`, searchHits()+"x"), call("3", "bash", `{"command":"find"}`, listing()),
		call("4", "grep", `{"q":"c"}`, searchHits()+"y"), call("5", "ls", `{}`, strings.Repeat("name.go\n", 60)))
	for _, tt := range []struct {
		name  string
		tools map[string]policy.ToolPolicy
		whole []int // messages
	}{
		{"none", nil, []int{10}},
		{"never", map[string]policy.ToolPolicy{"grep": {Never: true}}, []int{2, 4, 8, 10}},
		{"the last two", map[string]policy.ToolPolicy{"grep": {KeepLast: 2}}, []int{4, 8, 10}},
		{"more than there are", map[string]policy.ToolPolicy{"grep": {KeepLast: 9}}, []int{2, 4, 8, 10}},
		{"a lower size", map[string]policy.ToolPolicy{"ls": {Over: 300}}, nil},
		{"a higher size", map[string]policy.ToolPolicy{"bash": {Over: len(listing())}}, []int{6, 10}},
		{"another tool", map[string]policy.ToolPolicy{"Grep": {Never: true}}, []int{10}},
	} {
		s := situation(0, 1, msgs...)
		s.Settings.Tools = tt.tools
		view := apply(t, reduce.Prune{}, s)
		for i := 2; i <= 10; i += 2 {
			if whole := result(view, i) == result(msgs, i); whole != slices.Contains(tt.whole, i) {
				t.Errorf("%s: result %d whole: %t", tt.name, i, whole)
			}
		}
	}
}

func TestToolPoliciesAreAboutResults(t *testing.T) {
	input, _ := json.Marshal(map[string]string{"path": "a.go", "content": goFile()[:900]})
	s := situation(0, 1, asked(call("1", "write_file", string(input), "ok"))...)
	s.Settings.Tools = map[string]policy.ToolPolicy{"write_file": {Over: 300}}
	if got := apply(t, reduce.Prune{}, s)[1].Content[0].(precis.ToolUse).Input; !bytes.Equal(got, input) {
		t.Errorf("arguments of 900 characters were cut: %s", got)
	}
}

func TestPruneLeavesSmallResultsAlone(t *testing.T) {
	for name, output := range map[string]string{
		"empty": "", "blank": "  \n", "short": "ok", "at the limit": strings.Repeat("0123456789", 100),
		"at the limit in characters": strings.Repeat("字", 1000), "invalid UTF-8": "\xff\xfe" + strings.Repeat("a\x80", 400),
	} {
		msgs := asked(call("1", "bash", `{"command":"ls"}`, output))
		s := situation(0, 1, msgs...)
		e, err := reduce.Prune{}.Propose(t.Context(), s)
		if err != nil || len(e.Replace) > 0 {
			t.Errorf("%s: %d replacements, %v", name, len(e.Replace), err)
		}
	}
}

func TestPruneTakesAnyBytes(t *testing.T) {
	for name, output := range map[string]string{
		"one line":        strings.Repeat("words without an end ", 10_000),
		"no space":        strings.Repeat("iVBORw0KGgoAAAANSUhEUgAA", 9000),
		"one line of CJK": strings.Repeat("中文没有空格", 9000),
		"invalid UTF-8":   strings.Repeat("\xff\xfe\x80text\xc3\n", 3000),
		"zeros":           strings.Repeat("\x00", 20_000),
		"line ends only":  strings.Repeat("\n", 20_000),
		"CRLF":            strings.Repeat("a line\r\n", 3000),
		"own notes":       strings.Repeat("[… 12 lines left out, see m2.b0]\n", 900),
		"fences":          strings.Repeat("```\n", 5000),
		"deep JSON":       strings.Repeat("[", 20_000),
	} {
		s := situation(1500, 1, asked(call("1", "bash", `{"command":"x"}`, output))...)
		view := apply(t, reduce.Prune{}, s)
		got := result(view, 2)
		if n := s.Meter.View(view); n > 1500*11/10 {
			t.Errorf("%s: %d characters left", name, n)
		}
		if utf8.ValidString(output) && !utf8.ValidString(got) {
			t.Errorf("%s: a character was cut: %q", name, got)
		}
		if !strings.Contains(got, "m2.b0") {
			t.Errorf("%s: no handle in %q", name, got)
		}
	}
}

func TestPruneLeavesPicturesWhereTheyAre(t *testing.T) {
	image := precis.Image{MediaType: "image/png", Data: "AAAA", Width: 8, Height: 9}
	shot := call("1", "screenshot", `{}`, listing())
	r := shot[1].Content[0].(precis.ToolResult)
	r.Content = []precis.Block{precis.Text{Text: listing()}, image, precis.Text{Text: goFile()}}
	shot[1].Content[0] = r
	only := call("2", "screenshot", `{}`, "")
	only[1].Content[0] = precis.ToolResult{ToolUseID: "2", Content: []precis.Block{image}}
	s := situation(0, 1, asked(shot, only)...)
	view := apply(t, reduce.Prune{}, s)
	got := view[2].Content[0].(precis.ToolResult)
	pictures := 0
	for _, b := range got.Content {
		if precis.HashBlock(b) == precis.HashBlock(image) {
			pictures++
		}
	}
	if pictures != 1 || len(got.Text()) > len(listing()) {
		t.Errorf("%d pictures, %d characters", pictures, len(got.Text()))
	}
	if precis.HashMessage(view[4]) != precis.HashMessage(only[1]) {
		t.Errorf("a result of one picture became %v", view[4])
	}
}

func TestPruneByAUsersPreview(t *testing.T) {
	p := reduce.Prune{Preview: func(tool, path, text string) string {
		switch tool {
		case "read_file":
			return "OWN " + tool + " " + path
		case "grep":
			return text + "longer"
		}
		return ""
	}}
	s := situation(0, 1, asked(call("1", "read_file", `{"path":"cart.go"}`, goFile()), call("2", "grep", `{"q":"x"}`, searchHits()), call("3", "bash", `{"command":"x"}`, testLog()))...)
	view := apply(t, p, s)
	if got := result(view, 2); got != "[m2.b0, shortened]\nOWN read_file cart.go" {
		t.Errorf("own preview %q", got)
	}
	for _, i := range []int{4, 6} {
		if got := result(view, i); !strings.Contains(got, fmt.Sprintf("m%d.b0", i)) || strings.Contains(got, "longer") || len(got) > 2000 {
			t.Errorf("result %d left to precis: %d characters: %.200q", i, len(got), got)
		}
	}
}

func TestPruneLeavesArgumentsAloneWhenTold(t *testing.T) {
	write, _ := json.Marshal(map[string]any{"path": "cart.go", "content": goFile()})
	xml := "<write_to_file>\n<path>a.go</path>\n<content>\n" + goFile() + "</content>\n</write_to_file>"
	s := situation(0, 1, asked(call("1", "write_file", string(write), goFile()), text("assistant", xml), text("user", "[write_to_file for 'a.go'] Result: ok"))...)
	for _, over := range []int{0, 100_000, 1000} {
		s.Settings.RungSettings.ShrinkOver = over
		view := apply(t, reduce.Prune{}, s)
		whole := bytes.Equal(view[1].Content[0].(precis.ToolUse).Input, write) && view[3].PlainText() == xml
		if whole != (over != 1000) {
			t.Errorf("over %d: arguments whole: %t", over, whole)
		}
		if len(result(view, 2)) > 3000 {
			t.Errorf("over %d: the result was left alone", over)
		}
	}
}

// TestPruneKeepsTheShapeOfInputs prunes random JSON.
func TestPruneKeepsTheShapeOfInputs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		raw, err := json.Marshal(map[string]any{"path": "a.go", "content": goFile(), "rest": anyValue(rt, 3)})
		if err != nil {
			rt.Fatal(err)
		}
		s := situation(0, 1, asked(call("1", "write_file", string(raw), "ok"))...)
		s.Settings.RungSettings.ShrinkOver = rapid.IntRange(200, 3000).Draw(rt, "over")
		e, err := reduce.Prune{}.Propose(context.Background(), s)
		if err != nil || len(e.Replace) != 1 {
			rt.Fatalf("%d replacements, %v", len(e.Replace), err)
		}
		u := e.Replace[0].WithBlock.(precis.ToolUse)
		if was, is := shapeOf(rt, raw), shapeOf(rt, u.Input); was != is || u.ID != "1" || u.Name != "write_file" {
			rt.Fatalf("%s\nbecame\n%s", was, is)
		}
	})
}

func anyValue(t *rapid.T, depth int) any {
	switch n := rapid.IntRange(0, 6).Draw(t, "kind"); {
	case n == 0:
		return rapid.Float64Range(-1e6, 1e6).Draw(t, "number")
	case n == 1:
		return json.Number(strings.Repeat("7", rapid.IntRange(1, 4000).Draw(t, "digits")))
	case n == 2:
		return nil
	case n == 3 && depth > 0:
		out := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			out = append(out, anyValue(t, depth-1))
		}
		return out
	case n == 4 && depth > 0:
		out := map[string]any{}
		for range rapid.IntRange(0, 3).Draw(t, "fields") {
			out[rapid.StringN(0, 5, 30).Draw(t, "name")] = anyValue(t, depth-1)
		}
		return out
	}
	return strings.Repeat(rapid.StringN(1, 20, 90).Draw(t, "text"), rapid.IntRange(1, 90).Draw(t, "times"))
}

// shapeOf writes a JSON value with every string as "s" and numbers as they are.
func shapeOf(t *rapid.T, raw []byte) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	var bare func(v any) any
	bare = func(v any) any {
		switch v := v.(type) {
		case string:
			return "s"
		case []any:
			for i := range v {
				v[i] = bare(v[i])
			}
		case map[string]any:
			for k := range v {
				v[k] = bare(v[k])
			}
		}
		return v
	}
	out, err := json.Marshal(bare(v))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestPruneTouchesTextOnlyInsideItsFences(t *testing.T) {
	before, after := "Look at this:\n```go\n", "```\nand say what is wrong."
	s := situation(0, 1, asked(text("user", before+goFile()+after), text("assistant", "I see. "+goFile()), text("user", strings.Repeat("plain words of the user. ", 200)))...)
	view := apply(t, reduce.Prune{}, s)
	got := view[1].PlainText()
	if !strings.HasPrefix(got, before) || !strings.HasSuffix(got, after) || len(got) > len(goFile())/2 || !strings.Contains(got, "m1.b0") {
		t.Errorf("%d characters: %q", len(got), got)
	}
	for _, i := range []int{2, 3} {
		if view[i].PlainText() != s.Transcript.At(i).PlainText() {
			t.Errorf("message %d, which has no fences, was cut", i)
		}
	}
}

func TestPruneIsDeterministic(t *testing.T) {
	var first []byte
	for range 5 {
		s := tight(0, 1, everything()...)
		s.Target = s.Used / 2
		e, err := reduce.Prune{}.Propose(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = raw
		}
		if !bytes.Equal(raw, first) {
			t.Fatal("the same situation gives another edit")
		}
	}
}

func TestPruneStopsAtTheTarget(t *testing.T) {
	s := tight(0, 1, everything()...)
	used := s.Used
	for _, percent := range []int{95, 85, 70, 50, 40, 30} {
		s.Target = used * percent / 100
		got := s.Meter.View(apply(t, reduce.Prune{}, s))
		if got > s.Target || got < s.Target*9/10 {
			t.Errorf("target %d (%d %%): %d characters left", s.Target, percent, got)
		}
	}
}

func TestPruneAgain(t *testing.T) {
	s := tight(0, 1, everything()...)
	all := s.Used
	for _, percent := range []int{80, 60, 45, 30, 20} {
		s.Target = all * percent / 100
		for _, rung := range []policy.Strategy{reduce.Prune{}, reduce.Squeeze{}} {
			e, err := rung.Propose(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if err := precis.CheckEdit(s.Transcript, s.Edits, e); err != nil {
				t.Fatal(err)
			}
			e.ID = fmt.Sprint(rung.Name(), percent)
			s.Edits = append(s.Edits, e)
			s.Units = precis.Units(s.Transcript, s.Edits)
			view := precis.View(s.Transcript, s.Edits)
			if b := precis.Check(view); len(b) > 0 {
				t.Fatalf("%s at %d %%: %v", rung.Name(), percent, b)
			}
			was := s.Used
			if s.Used = s.Meter.View(view); s.Used > was {
				t.Errorf("%s at %d %%: grew from %d to %d", rung.Name(), percent, was, s.Used)
			}
		}
		if s.Used > s.Target {
			t.Errorf("%d %%: %d left, target %d", percent, s.Used, s.Target)
		}
	}
}
