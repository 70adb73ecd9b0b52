package digest_test

import (
	"testing"

	"github.com/precis-dev/precis/digest"
)

// What stood in a folder that is removed is gone, and so is what a pattern names.
func TestFilesOfAFolderThatIsRemoved(t *testing.T) {
	for command, want := range map[string][3]digest.FileFate{ // of /r/quay/a.py, /r/quay/old/b.txt and /r/c.py
		"rm -rf quay":                          {digest.FileDeleted, digest.FileDeleted, digest.FileCreated},
		"rm -r /r/quay/":                       {digest.FileDeleted, digest.FileDeleted, digest.FileCreated},
		"cd /r && rm -rf quay/old":             {digest.FileCreated, digest.FileDeleted, digest.FileCreated},
		"rm quay/*.py":                         {digest.FileDeleted, digest.FileCreated, digest.FileCreated},
		"rm quay/*":                            {digest.FileDeleted, digest.FileCreated, digest.FileCreated},
		"find quay -name '*.txt' -delete":      {digest.FileCreated, digest.FileDeleted, digest.FileCreated},
		"find quay -name 'a*' -exec rm {} +":   {digest.FileDeleted, digest.FileCreated, digest.FileCreated},
		"find quay -not -name '*.txt' -delete": {digest.FileCreated, digest.FileCreated, digest.FileCreated},
		"mv quay pier":                         {digest.FileDeleted, digest.FileDeleted, digest.FileCreated},
		"rm -rf old":                           {digest.FileCreated, digest.FileUnknown, digest.FileCreated}, // /r/old, or that in quay
		"rm -rf qua":                           {digest.FileCreated, digest.FileCreated, digest.FileCreated},
		"ls quay/*.py":                         {digest.FileCreated, digest.FileCreated, digest.FileCreated},
		"rm $QUAY/*.py":                        {digest.FileCreated, digest.FileCreated, digest.FileCreated},
	} {
		k := &talker{}
		k.user("Clean up.")
		paths := [3]string{"/r/quay/a.py", "/r/quay/old/b.txt", "/r/c.py"}
		for _, p := range paths {
			k.call("Write", map[string]any{"file_path": p, "content": "x\n"})
			k.result("File created successfully at: "+p, false)
		}
		k.bash(command, "", false)
		got := map[string]digest.FileFate{}
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
