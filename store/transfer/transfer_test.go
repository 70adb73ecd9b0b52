//go:build unix

package transfer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/pgtest"
	"github.com/precis-dev/precis/internal/sample"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/memory"
	"github.com/precis-dev/precis/store/postgres"
	"github.com/precis-dev/precis/store/sqlite"
	"github.com/precis-dev/precis/store/transfer"
)

var (
	cluster  *pgtest.Cluster
	noServer error
)

func TestMain(m *testing.M) {
	cluster, noServer = pgtest.Start()
	code := m.Run()
	if err := cluster.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// full is a store with all that can be moved.
type full interface {
	precis.Store
	store.Scoper
	store.Lister
	precis.Ledger
	precis.CalibrationStore
}

// kinds open an empty store each.
var kinds = map[string]func(t *testing.T) full{
	"memory": func(t *testing.T) full { return memory.New() },
	"sqlite": func(t *testing.T) full {
		s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "p.db"), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	},
	"postgres": func(t *testing.T) full {
		pgtest.SkipOrFail(t, noServer)
		s, err := postgres.Open(t.Context(), cluster.Database(t), postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	},
}

func user(text string) precis.Message { return precis.NewText(precis.RoleUser, text) }

// odd are messages whose bytes an encoder would like to touch.
func odd() []precis.Message {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	return []precis.Message{
		{Role: precis.RoleUser, ID: "m<1>", Time: time.Unix(1, 5).UTC(), Format: "chat", Raw: raw("{ \"a\" :\t1.0,\"\\u00e9\":\"<&>\" }\n \xff\xfe"), Content: []precis.Block{precis.Text{Text: "\u2028\x00 日本"}}},
		{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: "t", Name: "n", Input: raw("{\"cut off \xff")}, precis.Opaque{Type: "o", Raw: raw(" { }")}}},
		{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: "t", Content: []precis.Block{precis.Text{Text: strings.Repeat("huge <\n", 60_000)}}}}},
	}
}

// fill stores conversations with forks, and edits whose order is only known by
// the paths they share.
func fill(t *testing.T, s full, name string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	add := func(parent precis.Fingerprint, msgs ...precis.Message) precis.Fingerprint {
		t.Helper()
		node, err := s.Append(t.Context(), parent, msgs...)
		must(err)
		return node
	}
	edit := func(after, id string, at precis.Fingerprint) {
		t.Helper()
		must(s.AddEdit(t.Context(), after, precis.Edit{ID: id, Kind: precis.KindPin, At: at, Seen: 1, Pins: []precis.Handle{precis.MessageHandle(0)}}))
	}
	root := add(precis.Fingerprint{}, user("root of "+name))
	mid := add(root, odd()...)
	left, right := add(mid, user("left")), add(mid, user("right"))
	old := add(root, user("as it was before"))
	for i := range 300 {
		left = add(left, user(fmt.Sprint("more ", i)))
	}
	edit("", "1", root)
	edit("1", "2 right", right)
	edit("1", "3 left", left)
	edit("1", "4 mid", mid)
	edit("4 mid", "5 left", left)
	edit("4 mid", "6 right", right)
	edit("1", "7 old", old)
	add(right, user("in no conversation"))
	now := time.Unix(1e9, 7).UTC()
	must(s.PutConversation(t.Context(), store.Record{ID: "left", Title: "L", Head: left, Updated: now, Created: now, Hints: map[string]string{"a": "<b>"}}))
	must(s.PutConversation(t.Context(), store.Record{ID: "right \xff\x00", Head: right, Earlier: []precis.Fingerprint{old, {9}}, Branched: "left"}))
	must(s.PutConversation(t.Context(), store.Record{ID: "nothing", Head: precis.Fingerprint{8}}))
	for range 2 { // the same twice is two
		must(s.Book(t.Context(), precis.LedgerEntry{Conversation: "left", Kind: "request", Time: now}))
	}
	must(s.Book(t.Context(), precis.LedgerEntry{Conversation: "right", CostUSD: 0.1, Time: now.Add(time.Hour)}))
	must(s.SaveCalibration(t.Context(), "model "+name, []byte("state \xff")))
}

func filled(t *testing.T, kind string) full {
	s := kinds[kind](t)
	fill(t, s, "the store")
	for _, owner := range []string{"a", "\xff\x00"} {
		fill(t, s.Scope(owner).(full), owner)
	}
	return s
}

func export(t *testing.T, s precis.Store) (string, transfer.Counts) {
	t.Helper()
	var out bytes.Buffer
	counts, err := transfer.Export(t.Context(), s, &out)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), counts
}

var filledCounts = transfer.Counts{Scopes: 3, Conversations: 9, Messages: 3 * 307, Edits: 21, Entries: 9, Calibrations: 3}

func TestBetweenAllStores(t *testing.T) {
	names, runs := slices.Sorted(maps.Keys(kinds)), sample.OneIn(t, 3, 1)
	for i, from := range names {
		t.Run(from, func(t *testing.T) {
			text, counts := export(t, filled(t, from))
			if counts != filledCounts {
				t.Errorf("exported %+v", counts)
			}
			for j, to := range names {
				if !runs(i + j) { // with -short each kind is exported once and imported once
					continue
				}
				t.Run(to, func(t *testing.T) {
					s := kinds[to](t)
					for range 2 { // the second time nothing is added
						counts, err := transfer.Import(t.Context(), strings.NewReader(text), s)
						if err != nil || counts != filledCounts {
							t.Fatalf("imported %+v, %v", counts, err)
						}
						if again, _ := export(t, s); again != text {
							t.Errorf("what was imported is exported as something else: %s", difference(again, text))
						}
					}
				})
			}
		})
	}
}

func difference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d\n got %.300s\nwant %.300s", i+1, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(x), len(y))
}

// TestWhatComesBack looks at the content, not at another export.
func TestWhatComesBack(t *testing.T) {
	text, _ := export(t, filled(t, "sqlite"))
	s := kinds["memory"](t)
	if _, err := transfer.Import(t.Context(), strings.NewReader(text), s); err != nil {
		t.Fatal(err)
	}
	in := s.Scope("\xff\x00").(full)
	r, err := in.Conversation(t.Context(), "right \xff\x00")
	if err != nil || r.Branched != "left" || len(r.Earlier) != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	tr, edits, err := in.Load(t.Context(), r.Head)
	if err != nil || tr.Len() != 5 {
		t.Fatal(err)
	}
	for i, want := range odd() {
		got, err := json.Marshal(tr.At(i + 1))
		if form, _ := json.Marshal(want); err != nil || !bytes.Equal(got, form) || !bytes.Equal(tr.At(i+1).Raw, want.Raw) {
			t.Errorf("message %d came back as %.200s", i+1, got)
		}
	}
	var ids []string
	for _, e := range edits {
		ids = append(ids, e.ID)
	}
	if want := []string{"1", "2 right", "4 mid", "6 right"}; !slices.Equal(ids, want) {
		t.Errorf("edits %q, want %q", ids, want)
	}
	if all, err := in.Entries(t.Context(), "left", time.Time{}); err != nil || len(all) != 2 {
		t.Errorf("%d entries, %v", len(all), err)
	}
}

// TestIntoAStoreInUse: what is there stays and what is newer wins.
func TestIntoAStoreInUse(t *testing.T) {
	text, _ := export(t, filled(t, "memory"))
	s := kinds["sqlite"](t)
	ctx := t.Context()
	root, err := s.Append(ctx, precis.Fingerprint{}, user("root of the store"))
	if err != nil {
		t.Fatal(err)
	}
	own := precis.Edit{ID: "own", Kind: precis.KindPin, At: root, Seen: 1}
	newer := store.Record{ID: "left", Title: "newer", Updated: time.Unix(2e9, 0).UTC()}
	err = errors.Join(s.AddEdit(ctx, "", own), s.PutConversation(ctx, newer), s.SaveCalibration(ctx, "model a", []byte("own")),
		s.Book(ctx, precis.LedgerEntry{Conversation: "left", Kind: "request", Time: time.Unix(1e9, 7).UTC()}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := transfer.Import(ctx, strings.NewReader(text), s); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Conversation(ctx, "left"); err != nil || r.Title != "newer" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, edits, err := s.Load(ctx, root); err != nil || len(edits) != 2 || edits[0].ID != "own" || edits[1].ID != "1" {
		t.Errorf("edits %v, %v", edits, err)
	}
	if all, err := s.LoadCalibrations(ctx); err != nil || string(all["model a"]) != "own" || len(all) != 3 {
		t.Errorf("calibrations %q, %v", all, err)
	}
	if all, err := s.Entries(ctx, "left", time.Time{}); err != nil || len(all) != 2 {
		t.Errorf("%d entries, %v", len(all), err)
	}
	other := own
	other.ID, other.Pins = "1", []precis.Handle{precis.MessageHandle(5)}
	s = kinds["memory"](t)
	if _, err := s.Append(ctx, precis.Fingerprint{}, user("root of the store")); err != nil {
		t.Fatal(err)
	}
	if err := s.AddEdit(ctx, "", other); err != nil {
		t.Fatal(err)
	}
	_, err = transfer.Import(ctx, strings.NewReader(text), s)
	wantError(t, err, precis.CodeConflict)
}

func wantError(t *testing.T, err error, code precis.Code) {
	t.Helper()
	var e *precis.Error
	if !errors.As(err, &e) || e.Code != code || !strings.HasPrefix(e.Place, "line ") {
		t.Errorf("error %v, want %s and the line", err, code)
	}
}

// TestCutOff imports every beginning of a file. What is there then is whole, and
// the whole file adds the rest.
func TestCutOff(t *testing.T) {
	from := kinds["memory"](t)
	small := from.Scope("small").(full)
	var err error
	var at [2]precis.Fingerprint
	for i := range at {
		if at[i], err = small.Append(t.Context(), at[0], user(fmt.Sprint("message ", i)), user("end")); err != nil {
			t.Fatal(err)
		}
		if err = small.PutConversation(t.Context(), store.Record{ID: fmt.Sprint(i), Head: at[i]}); err != nil {
			t.Fatal(err)
		}
	}
	text, _ := export(t, from)
	for n := range len(text) {
		to := kinds["memory"](t)
		_, err := transfer.Import(t.Context(), strings.NewReader(text[:n]), to)
		wantErrorAt(t, err, text[:n])
		in := to.Scope("small").(full)
		records, err := in.Conversations(t.Context(), store.Query{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			if _, _, err := in.Load(t.Context(), r.Head); err != nil {
				t.Errorf("cut off after %d bytes: the record %s is there, its messages are not", n, r.ID)
			}
		}
		if _, err := transfer.Import(t.Context(), strings.NewReader(text), to); err != nil {
			t.Error(err)
		}
		if again, _ := export(t, to); again != text {
			t.Errorf("cut off after %d bytes and imported again: %s", n, difference(again, text))
		}
	}
}

// wantErrorAt checks that the error names the last line that was there.
func wantErrorAt(t *testing.T, err error, text string) {
	t.Helper()
	lines := strings.Count(text, "\n")
	if !strings.HasSuffix(text, "\n") && text != "" {
		lines++
	}
	var e *precis.Error
	if !errors.As(err, &e) || e.Code != precis.CodeInvalid || e.Place != fmt.Sprint("line ", lines) {
		t.Errorf("after %d bytes: error %v, want one at line %d", len(text), err, lines)
	}
}

// sum is what a line ends with; exports of before have none.
var sum = regexp.MustCompile(`,"sum":"[0-9a-f]{8}"`)

func TestMalformed(t *testing.T) {
	text, _ := export(t, filled(t, "memory"))
	text = sum.ReplaceAllString(text, "")
	lines := strings.SplitAfter(text, "\n")
	for name, change := range map[string]func(l []string) []string{
		"no first line":      func(l []string) []string { return l[1:] },
		"another format":     func(l []string) []string { l[0] = `{"format":"other","version":1}` + "\n"; return l },
		"a newer version":    func(l []string) []string { l[0] = `{"format":"precis-store","version":2}` + "\n"; return l },
		"not JSON":           func(l []string) []string { l[9] = "{\n"; return l },
		"an unknown kind":    func(l []string) []string { l[9] = `{"what":1}` + "\n"; return l },
		"an empty line":      func(l []string) []string { l[9] = "\n"; return l },
		"another message":    func(l []string) []string { l[5] = strings.Replace(l[5], "root", "toor", 1); return l },
		"a message is gone":  func(l []string) []string { return slices.Delete(l, 5, 6) },
		"more after the end": func(l []string) []string { return append(l[:len(l)-1], l[6]) },
		"bytes":              func(l []string) []string { l[7] = "\x00\xff\xfe\n"; return l },
		"a nodeless edit": func(l []string) []string {
			l[9] = `{"edit":{"edit":{"id":"x","kind":"pin","at":"` + strings.Repeat("01", 32) + `"}}}` + "\n"
			return l
		},
	} {
		_, err := transfer.Import(t.Context(), strings.NewReader(strings.Join(change(slices.Clone(lines)), "")), kinds["memory"](t))
		code := precis.CodeInvalid
		if name == "a nodeless edit" {
			code = precis.CodeNotFound
		}
		t.Run(name, func(t *testing.T) { wantError(t, err, code) })
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := transfer.Import(canceled, strings.NewReader(text), kinds["memory"](t))
	wantError(t, err, precis.CodeCanceled)
	_, err = transfer.Import(t.Context(), strings.NewReader(text), plain{kinds["memory"](t)})
	wantError(t, err, precis.CodeInvalid)
	if _, err := transfer.Export(t.Context(), plain{kinds["memory"](t)}, &bytes.Buffer{}); precis.CodeOf(err) != precis.CodeInvalid {
		t.Errorf("a store without a catalog: %v", err)
	}
	if _, err := transfer.Export(t.Context(), filled(t, "memory"), brokenDisk{}); precis.CodeOf(err) != precis.CodeInternal {
		t.Errorf("a writer that fails: %v", err)
	}
}

// plain is a store that can do nothing else.
type plain struct{ precis.Store }

// brokenDisk takes nothing.
type brokenDisk struct{}

func (brokenDisk) Write([]byte) (int, error) { return 0, errors.New("full") }

func Example() {
	ctx := context.Background()
	from, to := memory.New(), memory.New()
	node, _ := from.Append(ctx, precis.Fingerprint{}, precis.NewText(precis.RoleUser, "hello"))
	_ = from.PutConversation(ctx, store.Record{ID: "1", Head: node})
	var file bytes.Buffer
	if _, err := transfer.Export(ctx, from, &file); err != nil {
		fmt.Println(err)
	}
	counts, err := transfer.Import(ctx, &file, to)
	fmt.Println(counts.Conversations, counts.Messages, err)
	// Output: 1 1 <nil>
}
