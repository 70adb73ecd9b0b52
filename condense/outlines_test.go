package condense

import (
	"fmt"
	"strings"
	"testing"
)

// TestOutlinesKeepTheNumbersOfEachPart reads two parts of one file in one result.
func TestOutlinesKeepTheNumbersOfEachPart(t *testing.T) {
	var b strings.Builder
	part := func(from int, name string) {
		for i, line := range []string{"func " + name + "() int {", "\tx := 1", "\tx++", "\tx++", "\treturn x", "}"} {
			fmt.Fprintf(&b, "%6d\t%s\n", from+i, line)
		}
	}
	part(10, "early")
	b.WriteString("...\n")
	part(400, "late")
	got := definitions(nil, "a.go", b.String())
	for _, want := range []string{"10--15 | func early() int {", "400--405 | func late() int {"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
	plain := definitions(nil, "a.go", "package a\n\nfunc bare() int {\n\tx := 1\n\tx++\n\treturn x\n}\n")
	if !strings.Contains(plain, "3--7 | func bare() int {") {
		t.Errorf("%q", plain)
	}
}
