package packed

import (
	"bytes"
	"testing"
)

func TestPackedAndBack(t *testing.T) {
	for _, text := range []string{"", "a", string(bytes.Repeat([]byte("the same "), 10_000))} {
		small, err := Pack([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Text(small)
		if err != nil || string(got) != text {
			t.Errorf("%d bytes come back as %d, %v", len(text), len(got), err)
		}
		if _, err := Text(small[:len(small)/2]); err == nil {
			t.Error("a half is taken for the whole")
		}
	}
	if _, err := Text([]byte("no text at all")); err == nil {
		t.Error("anything is taken")
	}
}
