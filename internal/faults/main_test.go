package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestFaultsAreInFunctionsOfTheProduct(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.go":      "package a\n\nconst most = 3\n\nfunc f(n int) bool {\n\tif n < most && n != 7 {\n\t\treturn true\n\t}\n\treturn false\n}\n",
		"a_test.go": "package a\n\nfunc g(n int) bool { return n == 1 }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := faultsIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range all {
		got = append(got, f.was+" → "+f.by)
	}
	want := []string{"n < most && n != 7 → !(n < most && n != 7)", "&& → ||", "< → <=", "!= → ==", "7 → (7+1)"}
	if !slices.Equal(got, want) {
		t.Errorf("faults %q, want %q", got, want)
	}
	if all[1].line != 6 {
		t.Errorf("the second is in line %d", all[1].line)
	}
}
