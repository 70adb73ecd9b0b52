package tokens

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pkoukk/tiktoken-go"
	tiktokenloader "github.com/pkoukk/tiktoken-go-loader"
	"github.com/tiktoken-go/tokenizer"
)

type benchCounter struct {
	name  string
	count func(text string)
}

// BenchmarkCount compares throughput with other Go tokenizers on o200k_base:
//
//	go test -run '^$' -bench Count ./tokens
//
// "precis" counts the same text again and again, "precis-cold" forgets
// what it has cached before each time. The other counters need time in proportion
// to the square of the length for the text "repeat", so they get only its
// first 2 KB; rates are per byte in any case.
func BenchmarkCount(b *testing.B) {
	counters := benchCounters(b)
	for _, text := range benchTexts(b) {
		for i, counter := range counters {
			content := text.content
			if text.name == "repeat" && i > 1 {
				content = content[:2<<10]
			}
			b.Run(text.name+"/"+counter.name, func(b *testing.B) {
				b.SetBytes(int64(len(content)))
				b.ReportAllocs()
				for b.Loop() {
					counter.count(content)
				}
			})
		}
	}
}

// BenchmarkLoad measures what the first use of an encoding costs.
func BenchmarkLoad(b *testing.B) {
	for name, data := range map[string][]byte{"o200k": o200kData, "cl100k": cl100kData} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				loadVocabulary(data)
			}
		})
	}
}

// BenchmarkRunning measures one small append to a long text and its count.
func BenchmarkRunning(b *testing.B) {
	r := O200k().Running()
	r.Append(readTestdata(b, "python.txt.gz"))
	for b.Loop() {
		r.Append(" word")
		r.Count()
	}
}

func benchCounters(b *testing.B) []benchCounter {
	cold := newWorker(O200k())
	other, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		b.Fatal(err)
	}
	tiktoken.SetBpeLoader(tiktokenloader.NewOfflineLoader())
	pkoukk, err := tiktoken.GetEncoding("o200k_base")
	if err != nil {
		b.Fatal(err)
	}
	return []benchCounter{
		{"precis", func(text string) { O200k().Count(text) }},
		{"precis-cold", func(text string) {
			clear(cold.short[:])
			clear(cold.long[:])
			clear(cold.pairs[:])
			cold.count(validUTF8(text))
		}},
		{"tiktoken-go", func(text string) {
			if _, err := other.Count(text); err != nil {
				b.Fatal(err)
			}
		}},
		{"pkoukk", func(text string) { pkoukk.EncodeOrdinary(text) }},
	}
}

type benchText struct{ name, content string }

func benchTexts(b *testing.B) []benchText {
	random := rand.New(rand.NewSource(1))
	noise := make([]byte, 384<<10)
	random.Read(noise)
	return []benchText{
		{"go", goSource(b)},
		{"ts", readTestdata(b, "typescript.txt.gz")},
		{"python", readTestdata(b, "python.txt.gz")},
		{"json", jsonText(b, random)},
		{"cjk", readTestdata(b, "cjk.txt.gz")},
		{"base64", base64.StdEncoding.EncodeToString(noise)},
		{"repeat", strings.Repeat("a", 512<<10)},
	}
}

// goSource returns half a megabyte of the standard library.
func goSource(b *testing.B) string {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skipf("no Go source: %v", err)
	}
	var text strings.Builder
	for _, dir := range []string{"net/http", "go/types", "encoding/json", "fmt", "sort"} {
		files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "src", dir, "*.go"))
		if err != nil || len(files) == 0 {
			b.Skipf("no Go source in %s: %v", dir, err)
		}
		for i, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				b.Fatal(err)
			}
			if i%3 == 0 && text.Len() < 512<<10 {
				text.Write(data)
			}
		}
	}
	return text.String()
}

// jsonText returns a listing of source lines with numbers, digests and times,
// half of it indented.
func jsonText(b *testing.B, random *rand.Rand) string {
	type entry struct {
		ID      string   `json:"id"`
		Size    int      `json:"size"`
		Ratio   float64  `json:"ratio"`
		Changed string   `json:"changed_at"`
		Digest  string   `json:"sha256"`
		Tags    []string `json:"tags,omitempty"`
		Binary  bool     `json:"binary"`
		Text    string   `json:"text"`
	}
	var entries []entry
	for i, line := range strings.Split(readTestdata(b, "python.txt.gz"), "\n")[:1200] {
		entries = append(entries, entry{
			ID: fmt.Sprintf("item_%06d", random.Intn(1e6)), Size: random.Intn(1e5), Ratio: random.Float64(),
			Changed: fmt.Sprintf("2026-%02d-%02dT%02d:%02d:00Z", 1+i%12, 1+i%28, i%24, i%60),
			Digest:  fmt.Sprintf("%x", sha256.Sum256([]byte(line)))[:24],
			Tags:    strings.Fields(line)[:min(2, len(strings.Fields(line)))], Binary: i%7 == 0, Text: line,
		})
	}
	plain, err := json.Marshal(entries)
	if err != nil {
		b.Fatal(err)
	}
	indented, err := json.MarshalIndent(entries, "", "  ")
	if err != nil {
		b.Fatal(err)
	}
	return string(plain) + "\n" + string(indented)
}
