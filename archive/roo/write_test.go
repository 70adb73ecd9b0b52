package roo_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive/roo"
)

// contents returns the names of the files of a folder, and what they hold.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, dir)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// both are an edit that tags can say and one that they cannot.
func both(t *testing.T, dir string) []precis.Edit {
	t.Helper()
	pin := precis.Edit{ID: "P", Kind: precis.KindPin, Pins: []precis.Handle{precis.MessageHandle(0)}}
	if err := pin.Identify(open(t, dir).Conversation.Transcript); err != nil {
		t.Fatal(err)
	}
	return []precis.Edit{truncation("T", 1, 5), pin}
}

// When one of the files cannot be written all of them, and the files beside them,
// are as they were.
func TestATaskIsWrittenWhollyOrNotAtAll(t *testing.T) {
	for _, name := range []string{roo.HistoryName, roo.UIName, roo.SidecarName} {
		dir := folder(t)
		if name == roo.SidecarName {
			write(t, filepath.Join(dir, name), "{}")
		}
		before := contents(t, dir)
		if err := os.Chmod(filepath.Join(dir, name), 0o444); err != nil {
			t.Fatal(err)
		}
		err := open(t, dir).Record(t.Context(), both(t, dir), time.UnixMilli(9000))
		var e *precis.Error
		if !errors.As(err, &e) || !strings.Contains(e.Hint, "nothing was changed") || !strings.Contains(e.Place, name) {
			t.Errorf("%s is read-only: %v", name, err)
		}
		if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
			t.Errorf("%s is read-only, and the folder has changed:\n%s", name, diff)
		}
	}
}

// A history or UI messages that are links are written where they lead to; the links
// stay. A link to a file of another name is not followed for the UI messages.
func TestLinksAreFollowedToATasksFiles(t *testing.T) {
	real := folder(t)
	dir := t.TempDir()
	for _, name := range []string{roo.HistoryName, roo.UIName} {
		if err := os.Symlink(filepath.Join(real, name), filepath.Join(dir, name)); err != nil {
			t.Skip("no link can be made: ", err)
		}
	}
	before := contents(t, real)
	if err := open(t, dir).Record(t.Context(), both(t, dir), time.UnixMilli(9000)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{roo.HistoryName, roo.UIName} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more (%v)", name, err)
		}
		if after := contents(t, real)["/"+name]; after == before["/"+name] {
			t.Errorf("%s is not changed where it is", name)
		}
	}
	if n := len(open(t, dir).Conversation.Edits); n != 2 {
		t.Errorf("%d edits are read back", n)
	}

	elsewhere := filepath.Join(t.TempDir(), "list.json")
	write(t, elsewhere, before["/"+roo.UIName])
	dir = folder(t)
	ui := filepath.Join(dir, roo.UIName)
	if err := errors.Join(os.Remove(ui), os.Symlink(elsewhere, ui)); err != nil {
		t.Fatal(err)
	}
	if err := open(t, dir).Record(t.Context(), both(t, dir), time.UnixMilli(9000)); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(elsewhere); string(data) != before["/"+roo.UIName] {
		t.Error("a file that is no task's was changed through a link")
	}
}

// Undo gives back the mark with which programs on Windows begin a file, too.
func TestTheByteOrderMarkIsGivenBack(t *testing.T) {
	dir := folder(t)
	file := string(filepath.Separator) + roo.HistoryName
	path := filepath.Join(dir, roo.HistoryName)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, "\uFEFF"+string(data))
	was := contents(t, dir)
	if err := open(t, dir).Record(t.Context(), []precis.Edit{truncation("T", 1, 3)}, time.UnixMilli(9000)); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(contents(t, dir)[file], "\uFEFF[") {
		t.Error("the mark is gone from what is written")
	}
	if err := open(t, dir).Undo(t.Context(), "T"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(was[file], contents(t, dir)[file]); diff != "" {
		t.Error(diff)
	}
}

// The extension's folder says whose task it is, also where the path does not name it.
func TestATaskOfTheCurrentFolder(t *testing.T) {
	for name, cline := range map[string]bool{"rooveterinaryinc.roo-cline": false, "saoudrizwan.claude-dev": true} {
		dir := filepath.Join(t.TempDir(), name, "tasks", "7")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, roo.HistoryName), `[{"role":"user","content":"a task without times"}]`)
		t.Chdir(filepath.Dir(dir))
		if task := open(t, "7"); task.IsCline() != cline {
			t.Errorf("%s: of Cline %v", name, task.IsCline())
		}
	}
}
