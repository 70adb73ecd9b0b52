package lazyregexp

import (
	"testing"
)

func TestAPatternIsCompiledWhenUsed(t *testing.T) {
	r := New(`(`) // wrong, and nobody notices yet
	defer func() {
		if recover() == nil {
			t.Error("a wrong pattern matches")
		}
	}()
	r.MatchString("(")
}

func TestAllKeepsTheOrder(t *testing.T) {
	all := All(`a+`, `(b)c`)
	if len(all) != 2 || !all[0].MatchString("xa") || all[0].MatchString("bc") || all[1].ReplaceAllString("abc", "<$1>") != "a<b>" {
		t.Errorf("%v", all)
	}
	if first := all[0].compiled(); first != all[0].compiled() {
		t.Error("a pattern is compiled each time it is used")
	}
}
