package retain

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/formats"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/policy"
)

// use and result make the messages of one call.
func use(id, name string, args map[string]any) precis.Message {
	input, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return precis.Message{Role: "assistant", Content: []precis.Block{precis.ToolUse{ID: id, Name: name, Input: input}}}
}

func result(id, text string, isError bool) precis.Message {
	return precis.Message{Role: "user", Content: []precis.Block{precis.ToolResult{ToolUseID: id, IsError: isError, Content: []precis.Block{precis.Text{Text: text}}}}}
}

// fact returns the fact of a name, or fails.
func fact(t *testing.T, x *Index, name string) Fact {
	t.Helper()
	for _, k := range []Kind{KindPath, KindIdentifier} {
		if f, ok := x.Find(name, k); ok {
			return x.Facts[f]
		}
	}
	t.Fatalf("%s is no fact", name)
	return Fact{}
}

func sourcesOf(f Fact) string {
	var out []string
	for s := range sources {
		if f.Sources&(1<<s) != 0 {
			out = append(out, s.String())
		}
	}
	return strings.Join(out, " ")
}

// everySource is a conversation in which each source mentions names of its own
// and all of them shared_name.
func everySource() []precis.Message {
	return []precis.Message{
		{Role: "user", Content: []precis.Block{precis.Text{Text: "by_user shared_name"}, precis.Text{Text: "<environment_details>by_harness shared_name</environment_details>"}}}, // 0
		precis.NewText("assistant", "by_said shared_name shared_name"),                                          // 1
		use("1", "Write", map[string]any{"file_path": "src/call_path.go", "content": "by_written shared_name"}), // 2
		result("1", "by_found shared_name", false),                                                              // 3
		use("2", "Read", map[string]any{"file_path": "/abs/src/call_path.go", "note": "by_called shared_name"}), // 4
		result("2", "by_read shared_name", false),                                                               // 5
		use("3", "Bash", map[string]any{"command": "run_this > out/made_here.txt"}),                             // 6
		result("3", "by_output shared_name", true),                                                              // 7
		use("4", "Grep", map[string]any{"pattern": "by_pattern", "path": "lib"}),                                // 8
		result("4", "lib/found_file.go: by_search", false),                                                      // 9
	}
}

func TestFactsKnowTheirSources(t *testing.T) {
	x := Read("", everySource())
	for name, want := range map[string]string{
		"by_user": "user", "by_said": "said", "by_written": "written", "by_called": "called", "by_read": "read", "by_output": "output",
		"by_found": "found", "by_harness": "harness", "src/call_path.go": "called", "run_this": "called", "by_pattern": "called", "by_search": "found",
		"out/made_here.txt": "called",
		"shared_name":       "user said written called read output found harness",
	} {
		if got := sourcesOf(fact(t, x, name)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestFactsCountMessages(t *testing.T) {
	x := Read("", everySource())
	f := fact(t, x, "shared_name")
	if f.First != 0 || f.Last != 7 || f.LastSaid != 4 || f.Messages != 7 || f.SaidIn != 3 || f.LastSource != SourceCommand || f.Kind != KindIdentifier {
		t.Errorf("shared_name: %+v", f)
	}
	if f := fact(t, x, "by_user"); f.LastSaid != -1 || f.SaidIn != 0 || f.Messages != 1 || f.First != 0 || f.Last != 0 {
		t.Errorf("by_user: %+v", f)
	}
	for _, f := range x.Facts {
		if f.First > f.Last || f.SaidIn > f.Messages || f.Messages < 1 || f.LastSaid > f.Last || f.Name == "" {
			t.Errorf("%+v", f)
		}
	}
}

func TestFactsKnowWhatWasEdited(t *testing.T) {
	x := Read("", everySource())
	for name, want := range map[string][3]bool{ // Edited, InEdited, InError
		"src/call_path.go":  {true, true, false},
		"call_path":         {},
		"out/made_here.txt": {true, false, false},
		"by_written":        {false, true, false},
		"by_read":           {false, true, false}, // the file that was read was written before
		"by_output":         {false, false, true},
		"by_user":           {},
		"lib/found_file.go": {},
	} {
		if name == "call_path" {
			if _, ok := x.Find(name, KindIdentifier); ok {
				t.Error("a part of a path is a fact")
			}
			continue
		}
		if f := fact(t, x, name); [3]bool{f.Edited, f.InEdited, f.InError} != want {
			t.Errorf("%s: %v %v %v, want %v", name, f.Edited, f.InEdited, f.InError, want)
		}
	}
}

// A short call is one text, whose facts stand in the context of the others.
func TestAShortCallIsOneText(t *testing.T) {
	long := strings.Repeat("x", 151)
	for _, tt := range []struct {
		name, input string
		want        []string
	}{
		{"find_all", `{"pattern":"the_name","path":"src/a.go","limit":20,"all":true}`, []string{"find_all the_name src/a.go 20"}},
		{"find_all", `{"pattern":"` + long + `","path":"src/a.go"}`, []string{long, "src/a.go"}},
		{"find_all", `{"pattern":"two\nlines","path":"src/a.go"}`, []string{"two\nlines", "src/a.go"}},
		{"find_all", `{"a":"` + long[:90] + `","b":"` + long[:91] + `"}`, []string{long[:90], long[:91]}},
		{"find_all", `{"all":true}`, nil},
		{"find_all", `{}`, nil},
		{"write_file", `{"path":"src/a.go","content":"short"}`, []string{"src/a.go", "short"}},
		{"write_file", `{"path":"src/a.go"}`, []string{"write_file src/a.go"}},
	} {
		x := Read("", []precis.Message{{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: "1", Name: tt.name, Input: []byte(tt.input)}}}})
		var got []string
		for _, text := range x.Texts {
			got = append(got, text.Body)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s %s: %q, want %q", tt.name, tt.input, got, tt.want)
		}
		if _, ok := x.Find(tt.name, KindIdentifier); ok {
			t.Errorf("the name of the tool is a fact of %s", tt.input)
		}
	}
}

// Whatever a tool calls its path, it is no content.
func TestPathsOfWritesAreArguments(t *testing.T) {
	for _, arg := range []string{"file_path", "path", "filename", "file", "absolute_path", "target_file", "filePath", "notebook_path"} {
		x := Read("", []precis.Message{use("1", "write_file", map[string]any{arg: "src/a_b.go", "content": "text of_it"})})
		for _, text := range x.Texts {
			if want := map[bool]Source{true: SourceArguments, false: SourceWritten}[text.Field == arg]; text.Source != want {
				t.Errorf("%s of a call with %s is %s", text.Field, arg, text.Source)
			}
		}
		if f := fact(t, x, "src/a_b.go"); !f.Edited {
			t.Errorf("%s: not edited", arg)
		}
	}
}

// A patch in a shell is content, and what runs it is not.
func TestPatchesInShellsAreWritten(t *testing.T) {
	x := Read("", []precis.Message{use("1", "shell", map[string]any{"command": []string{"bash", "-lc", "apply_patch <<'P'\n*** Begin Patch\n*** Update File: src/a_b.go\n+of_it\n*** End Patch\nP"}}),
		use("2", "shell", map[string]any{"command": "make of_it"})})
	var got []string
	for _, text := range x.Texts {
		if text.Source == SourceWritten {
			got = append(got, text.Body)
		}
	}
	if len(got) != 1 || !strings.Contains(got[0], "+of_it") {
		t.Errorf("written: %q", got)
	}
}

func TestPathsAreKnownByTheirEnd(t *testing.T) {
	same := [][]string{
		{"src/app.ts", "/home/me/proj/src/app.ts", "./src/app.ts", `C:\proj\src\app.ts`, `C:\\proj\\src\\app.ts`, `.\src\app.ts`, "../src/app.ts", "~/src/app.ts"},
		{"main.go", "./main.go", `.\main.go`},
		{"a/b/c/d.go", "c/d.go"},
	}
	for _, group := range same {
		for _, p := range group {
			if key(p, KindPath) != key(group[0], KindPath) {
				t.Errorf("%s and %s: %q and %q", p, group[0], key(p, KindPath), key(group[0], KindPath))
			}
		}
	}
	for _, p := range [][2]string{{"main.go", "cmd/main.go"}, {"a/x.go", "b/x.go"}, {"a/x.go", "a/X.go"}, {"", "/"}} {
		if key(p[0], KindPath) == key(p[1], KindPath) {
			t.Errorf("%s and %s are one", p[0], p[1])
		}
	}
	if key("a/b/c", KindIdentifier) != "a/b/c" {
		t.Error("only paths are shortened")
	}
	x := Read("", []precis.Message{precis.NewText("user", "see src/app.ts"), precis.NewText("assistant", "in /home/me/src/app.ts and ./src/app.ts")})
	if len(x.Facts) != 1 || x.Facts[0].Name != "/home/me/src/app.ts" || x.Facts[0].Messages != 2 {
		t.Errorf("%+v", x.Facts)
	}
}

func TestWhatTheSystemPromptSaysIsWorthNothing(t *testing.T) {
	msgs := []precis.Message{precis.NewText("user", "call parseHandle in /w/src/app.ts, then otherName")}
	x := Read("Always use parseHandle and never_seen. See src/app.ts.", msgs)
	worth, c := x.Worths(), x.NewCoverage()
	for name, system := range map[string]bool{"parseHandle": true, "src/app.ts": true, "otherName": false} {
		f, ok := x.Find(name, map[bool]Kind{true: KindPath, false: KindIdentifier}[strings.Contains(name, "/")])
		if !ok || (worth[f] == 0) != system || c.Seen(f) != system {
			t.Errorf("%s: fact %v, worth %v, seen %v", name, ok, worth[f], c.Seen(f))
		}
	}
	if _, ok := x.Find("never_seen", KindIdentifier); ok {
		t.Error("the system prompt makes facts")
	}
}

const rooCall = "I will look at first_name.\n\n<read_file>\n<path>src/a_file.go</path>\n</read_file>\n\nThen second_name.\n" +
	"<write_to_file>\n<path>src/b_file.go</path>\n<content>\nfunc third_name() {}\n</content>\n</write_to_file>\ndone with fourth_name"

// What a program writes around a result, or in the place of its middle, holds no facts.
func TestFramesHoldNoFacts(t *testing.T) {
	text := "Warning: truncated output (original token count: 61417)\nTotal output lines: 30391\n\nledger_close took 8191\nthe da…14563 chars truncated…rollover_day\nkeeper_of_days"
	x := Read("", []precis.Message{use("a", "exec_command", map[string]any{"cmd": "cat ledger"}), result("a", text, false)})
	for name, kind := range map[string]Kind{"ledger_close": KindIdentifier, "8191": KindNumber, "keeper_of_days": KindIdentifier} {
		if _, ok := x.Find(name, kind); !ok {
			t.Errorf("%s is no fact", name)
		}
	}
	for name, kind := range map[string]Kind{"61417": KindNumber, "30391": KindNumber, "14563": KindNumber, "rollover_day": KindIdentifier} {
		if _, ok := x.Find(name, kind); ok {
			t.Errorf("%s is a fact", name)
		}
	}
}

func TestCallsWrittenAsXML(t *testing.T) {
	x := Read("", []precis.Message{
		precis.NewText("user", "start"),
		precis.NewText("assistant", rooCall),
		{Role: "user", Content: []precis.Block{
			precis.Text{Text: "[read_file for 'src/a_file.go'] Result:"}, precis.Text{Text: "package fifth_name"},
			precis.Text{Text: "[write_to_file for 'src/b_file.go'] Result:\nsixth_name"},
			precis.Text{Text: "<environment_details>seventh_name</environment_details>"},
		}},
	})
	for name, want := range map[string]string{
		"first_name": "said", "second_name": "said", "third_name": "written", "fourth_name": "said", "fifth_name": "read", "sixth_name": "found", "seventh_name": "harness",
		"src/b_file.go": "called found", "src/a_file.go": "called read",
	} {
		if got := sourcesOf(fact(t, x, name)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if !fact(t, x, "src/b_file.go").Edited || fact(t, x, "src/a_file.go").Edited || !fact(t, x, "third_name").InEdited {
		t.Error("edits are not told")
	}
}

// checkPositions fails unless every text stands where it says.
func checkPositions(t interface {
	Helper()
	Errorf(string, ...any)
}, x *Index, msgs []precis.Message) {
	t.Helper()
	last := precis.Handle{}
	for i, text := range x.Texts {
		h := text.Handle
		if h.From < last.From || h.From == last.From && h.Block < last.Block {
			t.Errorf("text %d at %s comes after %s", i, h, last)
		}
		last = h
		if text.Call >= int32(len(x.Calls)) || text.Call < -1 || text.Body == "" {
			t.Errorf("text %d: %+v", i, text)
		}
		var got string
		switch b := msgs[h.From].Content[h.Block].(type) {
		case precis.Text:
			if int(text.Start)+len(text.Body) <= len(b.Text) {
				got = b.Text[text.Start : int(text.Start)+len(text.Body)]
			}
		case precis.ToolUse:
			n, whole := int32(0), b.Name
			for field, s := range jsonspan.Strings(b.Input) {
				if n == text.Start && field == text.Field {
					got = s
				}
				whole += " " + s
				n++
			}
			if text.Field == "" {
				got = whole
			}
		case precis.ToolResult:
			got = b.Content[text.Start].(precis.Text).Text
			if without := toolcall.Unwrapped(got); text.Body == without || b.IsError && strings.HasSuffix(got, text.Body) {
				got = text.Body // without what its program wrote around it, or with a refusal
			}
		}
		if got != text.Body {
			t.Errorf("text %d at %s, start %d: %q, not %q", i, h, text.Start, got, text.Body)
		}
	}
	for i := range x.Texts {
		marks := x.marks[x.Texts[i].marks[0]:x.Texts[i].marks[1]]
		for k, m := range marks {
			if int(m.at) >= len(x.Texts[i].Body) || int(m.fact) >= len(x.Facts) || k > 0 && m.at < marks[k-1].at {
				t.Errorf("text %d: mark %+v", i, m)
			}
		}
	}
}

func TestTextsStandWhereTheySay(t *testing.T) {
	msgs := everySource()
	msgs = append(msgs,
		precis.NewText("assistant", rooCall),
		precis.Message{Role: "assistant", Content: []precis.Block{
			precis.Text{Text: ""}, precis.Image{Data: "x"},
			precis.ToolUse{ID: "9", Name: "edit", Input: []byte(`{"path":"a\/b.go","edits":[{"old":"","new":"x\ny \u4e2d"},{"old":"\ud83d\ude00","n":12.50}],"ok":true,"last":"\"q\""}`)},
			precis.ToolUse{ID: "8", Name: "odd", Input: []byte(`{"a":"b",`)},
			precis.ToolUse{ID: "7", Name: "none"},
		}},
		precis.Message{Role: "user", Content: []precis.Block{precis.ToolResult{ToolUseID: "9", Content: []precis.Block{precis.Image{Data: "x"}, precis.Text{Text: "second"}}}}},
		precis.Message{Role: "user", Content: []precis.Block{precis.ToolResult{ToolUseID: "no such call", Content: []precis.Block{precis.Text{Text: "orphan_result"}}}}},
	)
	x := Read("", msgs)
	checkPositions(t, x, msgs)
	var decoded []string
	for _, text := range x.Texts {
		if text.Handle == precis.BlockHandle(11, 2) {
			decoded = append(decoded, fmt.Sprintf("%d %s=%s", text.Start, text.Field, text.Body))
		}
	}
	want := []string{"0 path=a/b.go", "2 new=x\ny 中", "3 old=😀", "4 n=12.50", `5 last="q"`} // 1 is empty
	if !reflect.DeepEqual(decoded, want) {
		t.Errorf("%q, want %q", decoded, want)
	}
	if f := fact(t, x, "orphan_result"); sourcesOf(f) != "found" {
		t.Errorf("a result without a call: %s", sourcesOf(f))
	}
}

// someConversation draws messages with texts, calls of both kinds and results.
func someConversation(t *rapid.T) []precis.Message {
	word := rapid.SampledFrom([]string{"alpha_one", "src/b.go", "/x/src/b.go", "parseIt", "ENOENT", "8080", "plain", "words", "\n", "é中", `"quoted words here"`, "error: it went very wrong", "#123"})
	text := rapid.Map(rapid.SliceOfN(word, 0, 8), func(w []string) string { return strings.Join(w, " ") })
	var out []precis.Message
	for i := range rapid.IntRange(0, 10).Draw(t, "messages") {
		id := fmt.Sprint(i)
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			out = append(out, precis.NewText("user", text.Draw(t, "user")))
		case 1:
			out = append(out, precis.NewText("assistant", text.Draw(t, "said")))
		case 2:
			out = append(out, use(id, "Write", map[string]any{"path": "src/b.go", "content": text.Draw(t, "content")}), result(id, "ok "+text.Draw(t, "result"), false))
		case 3:
			out = append(out, use(id, "Read", map[string]any{"path": "/y/src/b.go"}), result(id, text.Draw(t, "file"), false))
		case 4:
			out = append(out, use(id, "Bash", map[string]any{"command": "go test " + text.Draw(t, "args")}), result(id, text.Draw(t, "output"), rapid.Bool().Draw(t, "error")))
		case 5:
			out = append(out, precis.NewText("assistant", text.Draw(t, "before")+"\n<write_to_file>\n<path>src/c.go</path>\n<content>"+text.Draw(t, "xml")+"</content>\n</write_to_file>\n"+text.Draw(t, "after")),
				precis.NewText("user", "[write_to_file for 'src/c.go'] Result:\n"+text.Draw(t, "saved")))
		}
	}
	return out
}

// Facts against a count that reads every text again for every fact.
func TestFactsMatchANaiveCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		msgs := someConversation(t)
		x := Read("", msgs)
		checkPositions(t, x, msgs)
		if again := Read("", msgs); !reflect.DeepEqual(again.Facts, x.Facts) || !reflect.DeepEqual(again.Worths(), x.Worths()) {
			t.Fatal("two readings differ")
		}
		for f := range x.Facts {
			in, said := map[int]bool{}, map[int]bool{}
			var from uint16
			for i := range x.Texts {
				text := &x.Texts[i]
				Scan(text.Body, func(a Anchor) {
					if g, ok := x.Find(text.Body[a.Start:a.End], a.Kind); !ok {
						t.Fatalf("%q is no fact", text.Body[a.Start:a.End])
					} else if g == f {
						in[text.Handle.From] = true
						from |= 1 << text.Source
						if msgs[text.Handle.From].Role == precis.RoleAssistant {
							said[text.Handle.From] = true
						}
					}
				})
			}
			fact := x.Facts[f]
			if int(fact.Messages) != len(in) || int(fact.SaidIn) != len(said) || fact.Sources != from || !in[int(fact.First)] || !in[int(fact.Last)] || fact.LastSaid >= 0 != (len(said) > 0) {
				t.Fatalf("%+v: in %v, said in %v, sources %b", fact, in, said, from)
			}
		}
	})
}

// TestRecordings reads the recordings in the directory PRECIS_TRANSCRIPTS.
func TestRecordings(t *testing.T) {
	dir := os.Getenv("PRECIS_TRANSCRIPTS")
	if dir == "" {
		t.Skip("PRECIS_TRANSCRIPTS names no directory of recordings")
	}
	read := 0
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rec, err := archive.Open(p, formats.All())
		if err != nil || rec.Conversation == nil {
			return nil // notes, indexes, packed files
		}
		read++
		msgs := rec.Conversation.Transcript.Messages()
		x := Read(rec.Conversation.System.PlainText(), msgs)
		checkPositions(t, x, msgs)
		for f, w := range x.Worths() {
			if !(w >= 0 && w <= 1) {
				t.Errorf("%s: worth %v of fact %d", filepath.Base(p), w, f)
			}
		}
		for _, r := range x.Rules() {
			if !strings.Contains(FoldedText(msgs[r.Handle.From:r.Handle.From+1]), Folded(r.Text)) {
				t.Errorf("%s: no words of its message: %s", filepath.Base(p), r.Text)
			}
		}
		for i := range x.Texts {
			checkScan(t, x.Texts[i].Body)
		}
		return nil
	})
	if err != nil || read == 0 {
		t.Errorf("%d recordings read: %v", read, err)
	}
	t.Logf("%d recordings", read)
}

func TestOfWorksOutOnce(t *testing.T) {
	s := &policy.Situation{Conversation: &precis.Conversation{System: precis.NewText("system", "use parse_it")}, Transcript: precis.NewTranscript(everySource()...)}
	x, worth, reuse := Of(s)
	y, again, same := Of(s)
	if x != y || &worth[0] != &again[0] || reuse != same || len(worth) != len(x.Facts) {
		t.Error("it was worked out again")
	}
}

// large returns a synthetic conversation of about size bytes.
func large(size int) []precis.Message {
	names := []string{"Go", "log", "JSON", "English"}
	var msgs []precis.Message
	for n, i := 0, 0; n < size; i++ {
		id, text := fmt.Sprint(i), kindsOfText[names[i%len(names)]][:8000]
		text = strings.ReplaceAll(text, "handleRequest", fmt.Sprintf("handleRequest%d", i))
		path := fmt.Sprintf("/home/dev/src/pkg%d/file%d.go", i%7, i%31)
		call := use(id, "Read", map[string]any{"file_path": path})
		if i%5 == 0 {
			call = use(id, "Edit", map[string]any{"file_path": path, "new_string": text[:500], "old_string": text[500:900]})
		}
		msgs = append(msgs, precis.NewText("user", "now look at "+path), call, result(id, text, i%11 == 0))
		n += len(text)
	}
	return msgs
}

// Reading and weighing a conversation of 4 MB, some million tokens.
func BenchmarkRead(b *testing.B) {
	msgs := large(4 << 20)
	b.SetBytes(4 << 20)
	for b.Loop() {
		Read("", msgs).Worths()
	}
}

func BenchmarkReuser(b *testing.B) {
	x := Read("", large(4<<20))
	worth := x.Worths()
	b.SetBytes(4 << 20)
	for b.Loop() {
		x.NewReusePredictor(worth)
	}
}

func TestSourcesHaveNames(t *testing.T) {
	if int(sources) != len(sourceNames) || SourceUser.String() != "user" || SourceHarness.String() != "harness" {
		t.Error("a source without a name")
	}
}
