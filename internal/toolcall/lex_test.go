package toolcall

import (
	"strings"
	"testing"
)

// Of a command of megabytes the beginning is looked at, and what follows here-documents, which may be as long.
func TestLongCommandsAreLookedAtInPart(t *testing.T) {
	words := simpleCommands("echo " + strings.Repeat("x", 5<<20) + " && rm a")
	if len(words) != 1 || len(words[0][1].text) > mostBytes {
		t.Errorf("%d commands, the second word has %d bytes", len(words), len(words[0][1].text))
	}
	words = simpleCommands("echo '" + strings.Repeat("x", 5<<20) + "' && rm a")
	if len(words) != 1 || len(words[0][1].text) > mostBytes {
		t.Errorf("%d commands, the quoted word has %d bytes", len(words), len(words[0][1].text))
	}
	words = simpleCommands("cat >a <<X\n" + strings.Repeat("line\n", 1<<20) + "X\nrm a\n")
	if len(words) != 2 || words[1][0].text != "rm" {
		t.Errorf("behind a here-document: %d commands", len(words))
	}
}
