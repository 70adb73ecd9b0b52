package conformance

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	titles "github.com/precis-dev/precis/internal/content"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/retain"
)

var updateAuthors = flag.Bool("update-authors", false, "write what is said today about who said what to "+authorsFile)

const authorsFile = "testdata/authors.tsv"

// TestAuthors compares who said what, by each function that decides it, with the table in
// testdata: for every recording a line of counts, and a hash of the answers of all functions
// for each of its blocks. Where a line differs, one of them says something else than it did;
// -v prints the blocks, and -update-authors writes the table again, so that the difference
// can be read. Recordings are named by a hash of their bytes, since they are not the
// project's.
func TestAuthors(t *testing.T) {
	sources := authorSources(t)
	want := authorTable(t)
	got := map[string]string{}
	for key, conv := range sources {
		got[key] = authorsLine(t, key, conv)
	}
	if *updateAuthors {
		maps.Copy(want, got)
		var b bytes.Buffer
		b.WriteString(authorsHead + "\n")
		for _, key := range slices.Sorted(maps.Keys(want)) {
			b.WriteString(key + "\t" + want[key] + "\n")
		}
		if err := os.WriteFile(authorsFile, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if want[key] == "" {
			t.Logf("%s is not in the table yet: write it with -update-authors", key)
		} else if got[key] != want[key] {
			t.Errorf("%s\ngot  %s\nwant %s\n     %s", key, got[key], want[key], authorsHead)
		}
	}
}

// authorSources returns the conversations to ask about, by the hash of their file: the
// project's own recordings and, where they are, the folders of recordings and streams.
func authorSources(t *testing.T) map[string]*precis.Conversation {
	out := map[string]*precis.Conversation{}
	var paths []string
	own, err := filepath.Glob("../examples/*.jsonl")
	if err != nil || len(own) == 0 {
		t.Fatalf("no recordings of our own: %v", err)
	}
	paths = append(paths, own...)
	if dir := os.Getenv("PRECIS_TRANSCRIPTS"); dir != "" && !testing.Short() {
		paths = append(paths, recordings(t, dir)...)
	} else {
		t.Log("PRECIS_TRANSCRIPTS names no folder: only the project's own recordings are compared")
	}
	for _, path := range paths {
		rec := readRecording(t, path)
		if rec == nil {
			t.Fatalf("%s cannot be read", path)
		}
		out[fileKey("r", content(t, path))] = rec.Conversation
	}
	if dir := os.Getenv("PRECIS_WIRE"); dir != "" && !testing.Short() {
		files, err := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data := content(t, file)
			out[fileKey("w", data)] = longest(t, data)
		}
	}
	return out
}

func fileKey(kind string, data []byte) string {
	return fmt.Sprintf("%s-%x", kind, sha256.Sum256(data))[:14]
}

// longest returns the conversation of the request with the most messages in a stream.
func longest(t *testing.T, stream []byte) *precis.Conversation {
	lines := bufio.NewScanner(bytes.NewReader(stream))
	lines.Buffer(nil, 64<<20)
	var msgs []precis.Message
	for lines.Scan() {
		var r recordedRequest
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		d, raw := dialectOf(r)
		if len(raw) == 0 {
			continue
		}
		one, err := d.read(raw)
		if err != nil {
			t.Fatal(err)
		}
		if len(one) > len(msgs) {
			msgs = one
		}
	}
	return &precis.Conversation{Transcript: precis.NewTranscript(msgs...)}
}

func authorTable(t *testing.T) map[string]string {
	out := map[string]string{}
	data, err := os.ReadFile(authorsFile)
	if err != nil && !*updateAuthors {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if key, rest, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok && key != "file" {
			out[key] = rest
		}
	}
	return out
}

const authorsHead = "file\tconversations\tmessages\tblocks\tperson\tperson_chars\tread_program\tread_recap\tread_other\tharness\tsummary\tstanding\trequests\tanswers\trules\trules_lost\tlast_turn\tsources\tchars_by_author\ttitle\tblocks_hash"

// authorsLine asks everything about a conversation and its side conversations.
func authorsLine(t *testing.T, key string, conv *precis.Conversation) string {
	a := authors{t: t, key: key, sources: map[string]int{}, speech: map[string]int{}}
	a.add(conv)
	var sources []string
	for _, name := range slices.Sorted(maps.Keys(a.sources)) {
		sources = append(sources, fmt.Sprintf("%s=%d", name, a.sources[name]))
	}
	var speech []string
	for _, name := range slices.Sorted(maps.Keys(a.speech)) {
		speech = append(speech, fmt.Sprintf("%s=%d", name, a.speech[name]))
	}
	title := sha256.Sum256([]byte(titles.Title(conv)))
	sum := sha256.Sum256(a.all.Bytes())
	return fmt.Sprintf("%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t%s\t%x\t%x",
		a.conversations, a.messages, a.blocks, a.person, a.personChars, a.program, a.recap, a.other, a.wrote, a.summary, a.standing,
		a.requests, a.answers, a.rules, a.rulesLost, strings.Trim(fmt.Sprint(a.last), "[]"), strings.Join(sources, " "), strings.Join(speech, " "), title[:4], sum[:8])
}

type authors struct {
	t   *testing.T
	key string
	all bytes.Buffer // a line for each block

	conversations, messages, blocks, person, personChars int
	program, recap, other, wrote, summary, standing      int
	requests, answers, rules, rulesLost                  int
	last                                                 []int
	sources                                              map[string]int
	speech                                               map[string]int // bytes by author, act and evidence
}

func (a *authors) add(conv *precis.Conversation) {
	msgs := conv.Transcript.Messages()
	speech := conv.Transcript.Speech()
	a.conversations++
	a.messages += len(msgs)
	for i, m := range msgs {
		user := m.UserBlocks()
		for b, block := range m.Content {
			a.blocks++
			text, isText := block.(precis.Text)
			if !isText {
				continue
			}
			said := m.AttributionOf(b)
			_, stands := harness.StandingList(text.Text)
			line := fmt.Sprintf("%s %s person=%t author=%s act=%s harness=%t summary=%t standing=%t passing=%t", precis.BlockHandle(i, b), m.Role,
				slices.Contains(user, b), said.Author, said.Act, harness.IsProgramText(text.Text), harness.IsSummary(text.Text), stands, harness.IsTransient(text.Text))
			a.note(line)
			count(&a.person, slices.Contains(user, b))
			if slices.Contains(user, b) {
				a.personChars += len(text.Text)
			}
			count(&a.program, said.Author == precis.AuthorProgram)
			count(&a.recap, said.Author == precis.AuthorRecap)
			count(&a.other, said.Author != precis.AuthorUnknown && said.Author != precis.AuthorProgram && said.Author != precis.AuthorRecap)
			count(&a.wrote, harness.IsProgramText(text.Text))
			count(&a.summary, harness.IsSummary(text.Text))
			count(&a.standing, stands)
		}
		for _, s := range speech.Spans(i) {
			a.speech[fmt.Sprintf("%s/%s/%d", s.Attribution.Author, s.Attribution.Act, s.Why)] += s.To - s.From
			a.note(fmt.Sprintf("%s.%d %d-%d %s %s %d", precis.BlockHandle(i, s.Block), s.Part, s.From, s.To, s.Attribution.Author, s.Attribution.Act, s.Why))
		}
		if err := checked(speech.Spans(i), m); err != nil {
			a.t.Errorf("%s: message %d: %v", a.key, i, err)
		}
		for _, answer := range speech.Answers(i) {
			a.note(fmt.Sprintf("%s answer turn=%t %d", answer.Handle, answer.Turn, len(answer.Text)))
		}
	}
	state := digest.StateOf(conv)
	a.requests, a.answers, a.rules = a.requests+len(state.Requests), a.answers+len(state.Answers), a.rules+len(state.Rules)
	for _, r := range state.Requests {
		a.note(fmt.Sprintf("%s request %d", r.Handle, len(r.Text)))
	}
	for _, r := range state.Rules {
		a.note(fmt.Sprintf("%s rule %d", r.Handle, len(r.Text)))
	}
	for _, r := range retain.RulesOf(msgs) {
		a.note(fmt.Sprintf("%s rule of the gate %d", r.Handle, len(r.Text)))
		a.rulesLost++
	}
	for _, text := range retain.Read(conv.System.PlainText(), msgs).Texts {
		a.sources[text.Source.String()]++
		a.note(fmt.Sprintf("%s+%d source=%s", text.Handle, text.Start, text.Source))
	}
	a.last = append(a.last, precis.LastUserTurn(msgs))
	for _, b := range conv.Branches {
		a.add(b)
	}
}

// checked reports an error unless spans are the bytes of the texts of a message, once and in order.
func checked(spans []precis.SpeechSpan, m precis.Message) error {
	next := func(b, part int, text string) error {
		for at := 0; at < len(text); at, spans = spans[0].To, spans[1:] {
			if len(spans) == 0 || spans[0].Block != b || spans[0].Part != part || spans[0].From != at || spans[0].To > len(text) {
				return fmt.Errorf("block %d, part %d: nobody said what stands at byte %d", b, part, at)
			}
		}
		return nil
	}
	for b, block := range m.Content {
		switch block := block.(type) {
		case precis.Text:
			if err := next(b, -1, block.Text); err != nil {
				return err
			}
		case precis.ToolResult:
			for part, p := range block.Content {
				if t, ok := p.(precis.Text); ok {
					if err := next(b, part, t.Text); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func (a *authors) note(line string) {
	a.all.WriteString(line + "\n")
	if testing.Verbose() && os.Getenv("AUTHORS_OF") == a.key {
		a.t.Log(line)
	}
}

func count(n *int, yes bool) {
	if yes {
		*n++
	}
}
