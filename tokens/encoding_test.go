package tokens

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// readTestdata returns the content of a compressed file.
func readTestdata(t testing.TB, name string) string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func parseIDs(t *testing.T, list string) []int {
	t.Helper()
	var ids []int
	for field := range strings.SplitSeq(list, ",") {
		if field == "" {
			continue
		}
		id, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

func TestGolden(t *testing.T) {
	lines := bufio.NewScanner(strings.NewReader(readTestdata(t, "golden.txt.gz")))
	cases := 0
	for ; lines.Scan(); cases++ {
		fields := strings.Split(lines.Text(), "\t")
		text, err := strconv.Unquote(fields[0])
		if err != nil || len(fields) != 3 {
			t.Fatalf("bad line %q: %v", lines.Text(), err)
		}
		for i, e := range encodings() {
			want := parseIDs(t, fields[i+1])
			if got := e.Encode(text); !slices.Equal(got, want) {
				t.Errorf("%s: Encode(%q)\n got %v\nwant %v", e.Name(), text, got, want)
			}
			if got := e.Count(text); got != len(want) {
				t.Errorf("%s: Count(%q) = %d, want %d", e.Name(), text, got, len(want))
			}
		}
	}
	if cases < 1000 {
		t.Errorf("only %d cases", cases)
	}
}

// The digests are those of the characters that the regular expressions of
// tiktoken 1.0.22 match.
func TestClasses(t *testing.T) {
	for _, want := range []struct {
		name   string
		set    classSet
		digest string
	}{
		{"upper", upper, "1fe350dfc43303087c284412fc9697856cbe660c667717c2926618ad1936ea2a"},
		{"lower", lower, "28346c5e9e528300ce6d29089f80629a49a195355746414e7d19678a63e36826"},
		{"caseless", caseless, "2837494c85a22e746e8f51a30a0475c326354090a484ff7ccac10c1e01247515"},
		{"mark", mark, "3e55619d0224e79d82950f30cfcbd492070c78ca1215e4ab4b2c279c166ca1fd"},
		{"number", number, "769e4ab2d18440833ca038212f8a3eb6df7f80c2406d04e445ae10edf14cd320"},
		{"space", space, "0f9e361824665863d05d659c966b9206c33eb9498fadcda6297c56aec8de94e8"},
	} {
		var list strings.Builder
		for c := range rune(runes) {
			if is(c, want.set) {
				fmt.Fprintf(&list, "%x\n", c)
			}
		}
		if got := fmt.Sprintf("%x", sha256.Sum256([]byte(list.String()))); got != want.digest {
			t.Errorf("class %s: digest of %d characters is %s", want.name, strings.Count(list.String(), "\n"), got)
		}
	}
}

// PRECIS_VECTORS names a directory with vectors recorded from other programs.
func TestRecordedVectors(t *testing.T) {
	dir := os.Getenv("PRECIS_VECTORS")
	if dir == "" {
		t.Skip("PRECIS_VECTORS is not set")
	}
	data, err := os.ReadFile(filepath.Join(dir, "roo", "o200kEncode.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Name   string
			Input  struct{ Text string }
			Output struct{ IDs []int }
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range file.Cases {
		if got := O200k().Encode(c.Input.Text); !slices.Equal(got, c.Output.IDs) {
			t.Errorf("%s: Encode(%q)\n got %v\nwant %v", c.Name, c.Input.Text, got, c.Output.IDs)
		}
		if got := O200k().Count(c.Input.Text); got != len(c.Output.IDs) {
			t.Errorf("%s: Count(%q) = %d, want %d", c.Name, c.Input.Text, got, len(c.Output.IDs))
		}
	}
}

func TestRealText(t *testing.T) {
	for _, name := range []string{"typescript", "python", "cjk"} {
		text := readTestdata(t, name+".txt.gz")
		for _, e := range encodings() {
			ids := e.Encode(text)
			if got := e.Count(text); got != len(ids) {
				t.Errorf("%s: Count of %s is %d, Encode gives %d", e.Name(), name, got, len(ids))
			}
			if e.Decode(ids) != text {
				t.Errorf("%s: Decode of %s gives other text", e.Name(), name)
			}
		}
	}
}

func TestDecodeUnknown(t *testing.T) {
	if got := O200k().Decode([]int{-1, 64, 199998, 1 << 40}); got != "a" {
		t.Errorf("got %q", got)
	}
}

func TestNames(t *testing.T) {
	if O200k().Name() != "o200k_base" || Cl100k().Name() != "cl100k_base" {
		t.Errorf("names %q, %q", O200k().Name(), Cl100k().Name())
	}
	if first, second := O200k(), O200k(); first != second {
		t.Error("O200k loads its tables every time")
	}
}

func TestConcurrentUse(t *testing.T) {
	text := readTestdata(t, "cjk.txt.gz")[:20_000] + readTestdata(t, "python.txt.gz")[:20_000]
	want := [2]int{}
	for i, e := range encodings() {
		want[i] = len(e.Encode(text))
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 5 {
				for i, e := range encodings() {
					if got := e.Count(text); got != want[i] {
						t.Errorf("%s: %d tokens, want %d", e.Name(), got, want[i])
					}
				}
			}
		})
	}
	all.Wait()
}

func TestCountAllocatesNothing(t *testing.T) {
	text := readTestdata(t, "typescript.txt.gz")[:10_000] + strings.Repeat("a", 10_000)
	w := newWorker(O200k())
	w.count(text)
	if n := testing.AllocsPerRun(20, func() { w.count(text) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The work for one long piece must grow with its length, not with its square.
func TestMergeIsLinear(t *testing.T) {
	const size = 1 << 16
	units := []string{"a", "ab", "abc", " ", "\n", " \n", "=", "Zq", "\u4e16", "\u0e01\u0e34", "aAaB", "\r"}
	for _, e := range encodings() {
		for _, unit := range units {
			steps := func(size int) int {
				w := newWorker(e)
				w.count(strings.Repeat(unit, size/len(unit)))
				return w.steps
			}
			if once, four := steps(size), steps(4*size); four > 5*once {
				t.Errorf("%s: %q takes %d steps in %d bytes and %d in four times as many", e.Name(), unit, once, size, four)
			}
		}
	}
}
