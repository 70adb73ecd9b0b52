package toolcall

import (
	"strings"
	"testing"
)

// Of a command of megabytes the beginning is looked at, and what follows here-documents, which may be as long.
func TestLongCommandsAreLookedAtInPart(t *testing.T) {
	words := lex("echo " + strings.Repeat("x", 5<<20) + " && rm a").commands
	if len(words) != 1 || len(words[0].words[1].text) > mostBytes {
		t.Errorf("%d commands, the second word has %d bytes", len(words), len(words[0].words[1].text))
	}
	words = lex("echo '" + strings.Repeat("x", 5<<20) + "' && rm a").commands
	if len(words) != 1 || len(words[0].words[1].text) > mostBytes {
		t.Errorf("%d commands, the quoted word has %d bytes", len(words), len(words[0].words[1].text))
	}
	words = lex("cat >a <<X\n" + strings.Repeat("line\n", 1<<20) + "X\nrm a\n").commands
	if len(words) != 2 || words[1].words[0].text != "rm" {
		t.Errorf("behind a here-document: %d commands", len(words))
	}
}
