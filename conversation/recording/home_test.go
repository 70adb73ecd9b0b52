package recording_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/roo"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/conversationtest"
	"github.com/precis-dev/precis/conversation/recording"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/wire/anthropic"
)

func home(t *testing.T, path, out string, inPlace bool) *recording.Home {
	t.Helper()
	f, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Keep(out, inPlace); err != nil {
		t.Fatal(err)
	}
	settings, err := preset.Settings(preset.Frugal)
	if err != nil {
		t.Fatal(err)
	}
	m, err := preset.New(preset.Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	return f.Home(m, policy.Request{Window: precis.Window{Tokens: conversationtest.Window, Source: precis.SourceConfigured}})
}

func write(t *testing.T, path string, data []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func plain(t *testing.T, msgs []precis.Message) string {
	return write(t, filepath.Join(t.TempDir(), "run.json"), fmt.Appendf(nil, `{"messages":%s}`, anthropic.AppendMessages(nil, msgs)))
}

// task writes a task folder and returns its path.
func task(t *testing.T, msgs []precis.Message) string {
	var entries []map[string]any
	if err := json.Unmarshal(anthropic.AppendMessages(nil, msgs), &entries); err != nil {
		t.Fatal(err)
	}
	for i, e := range entries {
		e["ts"] = 1_700_000_000_000 + 1000*i
	}
	data, err := json.Marshal(entries)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(write(t, filepath.Join(t.TempDir(), "task", roo.HistoryName), data))
}

func TestHome(t *testing.T) {
	place := func(merges bool, open func() *recording.Home) conversationtest.Place {
		h := open()
		return conversationtest.Place{Home: h, ID: h.ID(), Rival: open(), Merges: merges}
	}
	for name, open := range map[string]func(t *testing.T, msgs []precis.Message) conversationtest.Place{
		"a recording and a new file": func(t *testing.T, msgs []precis.Message) conversationtest.Place {
			path := plain(t, msgs)
			return place(true, func() *recording.Home { return home(t, path, path+recording.Suffix, false) })
		},
		"precis's own file": func(t *testing.T, msgs []precis.Message) conversationtest.Place {
			path := plain(t, msgs)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if data, err = archive.NewContainer("plain", path, data).Bytes(); err != nil {
				t.Fatal(err)
			}
			own := write(t, path+recording.Suffix, data)
			return place(true, func() *recording.Home { return home(t, own, "", false) })
		},
		"a task folder": func(t *testing.T, msgs []precis.Message) conversationtest.Place {
			dir := task(t, msgs)
			return place(false, func() *recording.Home { return home(t, dir, "", true) })
		},
	} {
		t.Run(name, func(t *testing.T) { conversationtest.Test(t, open) })
	}
}

func few() []precis.Message {
	var out []precis.Message
	for i := range 6 {
		role := precis.RoleUser
		if i%2 == 1 {
			role = precis.RoleAssistant
		}
		out = append(out, precis.NewText(role, fmt.Sprintf("message %d", i)))
	}
	return out
}

func pin(t *testing.T, h *recording.Home, i int) error {
	t.Helper()
	_, err := conversation.Pin(t.Context(), h, h.ID(), precis.MessageHandle(i))
	return err
}

// TestWhereEditsGo looks at the files there may be already.
func TestWhereEditsGo(t *testing.T) {
	path := plain(t, few())
	t.Chdir(filepath.Dir(path))
	foreign, other := write(t, "foreign.txt", []byte("notes")), plain(t, few()[:4])
	if err := pin(t, home(t, other, "other.precis", false), 0); err != nil {
		t.Fatal(err)
	}
	keep := func(source, out string, inPlace bool) (string, string, error) {
		f, err := recording.Open(source)
		if err != nil {
			t.Fatal(err)
		}
		continued, err := f.Keep(out, inPlace)
		if err != nil {
			return "", "", err
		}
		return continued, f.EditsPath(), nil
	}
	if continued, where, err := keep(path, "", false); continued != "" || where != "run.precis" || err != nil {
		t.Errorf("nothing is there: %q %q %v", continued, where, err)
	}
	if err := pin(t, home(t, path, "", false), 0); err != nil {
		t.Fatal(err)
	}
	if continued, where, err := keep(path, "", false); continued != "run.precis" || where != "run.precis" || err != nil {
		t.Errorf("a second command: %q %q %v", continued, where, err)
	}
	if continued, where, err := keep("run.precis", "", false); continued != "" || where != "run.precis" || err != nil {
		t.Errorf("its own file: %q %q %v", continued, where, err)
	}
	for name, tt := range map[string]struct {
		source, out string
		inPlace     bool
		code        precis.Code
		want        string
	}{
		"named, with edits":    {path, "run.precis", false, precis.CodeConflict, "holds edits of this conversation"},
		"another conversation": {path, "other.precis", false, precis.CodeConflict, "holds another conversation"},
		"not ours":             {path, foreign, false, precis.CodeConflict, "is not precis's own"},
		"a folder":             {path, ".", false, precis.CodeInvalid, "no regular file"},
		"no task":              {path, "", true, precis.CodeInvalid, "task folders"},
	} {
		if _, _, err := keep(tt.source, tt.out, tt.inPlace); precis.CodeOf(err) != tt.code || !strings.Contains(fmt.Sprint(err), tt.want) {
			t.Errorf("%s: %v, want %s, %q", name, err, tt.code, tt.want)
		}
	}
	f, err := recording.Read([]byte(`{"messages":[{"role":"user","content":"hello"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Keep("", false); precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), "standard input") {
		t.Errorf("standard input: %v", err)
	}
}

// TestAFileThatIsBrokenCanBeUsed undoes in a file with an edit that is there twice,
// and leaves it whole.
func TestAFileThatIsBrokenCanBeUsed(t *testing.T) {
	path := plain(t, few())
	own := path + recording.Suffix
	if err := pin(t, home(t, path, own, false), 0); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	c, err := archive.ParseContainer(data)
	if err != nil {
		t.Fatal(err)
	}
	c.Edits = append(c.Edits, c.Edits[0])
	if data, err = c.Bytes(); err != nil {
		t.Fatal(err)
	}
	write(t, own, data)
	h := home(t, own, "", false)
	if _, err := conversation.Undo(t.Context(), h, h.ID()); err != nil {
		t.Fatal(err)
	}
	f, err := recording.Open(own)
	if err != nil || len(f.Warnings) > 0 || len(precis.Active(f.Conversation.Edits)) > 0 || len(f.Conversation.Edits) != 2 {
		t.Errorf("afterwards: %v, warnings %v, edits %+v", err, f.Warnings, f.Conversation.Edits)
	}
}

// TestATaskIsByteForByteTheSameAfterUndo condenses in place.
func TestATaskIsByteForByteTheSameAfterUndo(t *testing.T) {
	dir := task(t, few())
	was, err := os.ReadFile(filepath.Join(dir, roo.HistoryName))
	if err != nil {
		t.Fatal(err)
	}
	h := home(t, dir, "", true)
	err = h.Edit(t.Context(), h.ID(), func(s *conversation.Subject) error {
		e := precis.Edit{Kind: precis.KindTruncation, Replace: []precis.Replacement{{From: 1, To: 3, With: []precis.Message{precis.NewText("user", "[gone]")}}}}
		if err := e.Identify(s.Conversation.Transcript); err != nil {
			return err
		}
		return s.Manager.Record(t.Context(), s.Conversation, e)
	})
	if err != nil {
		t.Fatal(err)
	}
	if now, _ := os.ReadFile(filepath.Join(dir, roo.HistoryName)); bytes.Equal(now, was) {
		t.Error("nothing was tagged")
	}
	if _, err := conversation.UndoAll(t.Context(), h, h.ID()); err != nil {
		t.Fatal(err)
	}
	if now, _ := os.ReadFile(filepath.Join(dir, roo.HistoryName)); !bytes.Equal(now, was) {
		t.Errorf("the history is %s\nwas %s", now, was)
	}
}
