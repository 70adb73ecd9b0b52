package digest_test

import (
	"testing"

	"github.com/precis-dev/precis/digest/effects"
)

// What stood in a folder that is removed is gone, and so is what a pattern names.
func TestFilesOfAFolderThatIsRemoved(t *testing.T) {
	for command, want := range map[string][3]effects.FileFate{ // of /r/quay/a.py, /r/quay/old/b.txt and /r/c.py
		"rm -rf quay":                          {effects.FileDeleted, effects.FileDeleted, effects.FileCreated},
		"rm -r /r/quay/":                       {effects.FileDeleted, effects.FileDeleted, effects.FileCreated},
		"cd /r && rm -rf quay/old":             {effects.FileCreated, effects.FileDeleted, effects.FileCreated},
		"rm quay/*.py":                         {effects.FileDeleted, effects.FileCreated, effects.FileCreated},
		"rm quay/*":                            {effects.FileDeleted, effects.FileCreated, effects.FileCreated},
		"find quay -name '*.txt' -delete":      {effects.FileCreated, effects.FileDeleted, effects.FileCreated},
		"find quay -name 'a*' -exec rm {} +":   {effects.FileDeleted, effects.FileCreated, effects.FileCreated},
		"find quay -not -name '*.txt' -delete": {effects.FileCreated, effects.FileCreated, effects.FileCreated},
		"mv quay pier":                         {effects.FileDeleted, effects.FileDeleted, effects.FileCreated},
		"rm -rf old":                           {effects.FileCreated, effects.FileUnknown, effects.FileCreated}, // /r/old, or that in quay
		"rm -rf qua":                           {effects.FileCreated, effects.FileCreated, effects.FileCreated},
		"ls quay/*.py":                         {effects.FileCreated, effects.FileCreated, effects.FileCreated},
		"rm $QUAY/*.py":                        {effects.FileCreated, effects.FileCreated, effects.FileCreated},
	} {
		k := &talker{}
		k.user("Clean up.")
		paths := [3]string{"/r/quay/a.py", "/r/quay/old/b.txt", "/r/c.py"}
		for _, p := range paths {
			k.call("Write", map[string]any{"file_path": p, "content": "x\n"})
			k.result("File created successfully at: "+p, false)
		}
		k.bash(command, "", false)
		got := map[string]effects.FileFate{}
		for _, f := range stateOf(k.msgs).Files {
			got[f.Path] = f.State
		}
		for i, p := range paths {
			if got[p] != want[i] {
				t.Errorf("%s: %s is %q, want %q", command, p, got[p], want[i])
			}
		}
	}
}
