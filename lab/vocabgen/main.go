// Command vocabgen writes the data files that package tokens embeds.
//
// It reads a published vocabulary, either the JSON file of the npm package
// tiktoken (encoders/o200k_base.json) or OpenAI's own format (lines of
// base64 token, space, rank), and writes the sorted, front-coded columns that
// tokens/vocab.go loads. With -unicode it reads UnicodeData.txt instead and
// writes the character classes that tokens/classes.go loads.
//
//	go -C lab run ./vocabgen -in ../tokens/o200k_base.json -out ../tokens/data/o200k_base.vocab.packed
//	go -C lab run ./vocabgen -unicode ../tokens/UnicodeData.txt -out ../tokens/data/classes.txt
package main

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"

	"github.com/precis-dev/precis/internal/packed"
)

func main() {
	in := flag.String("in", "", "vocabulary `file`: npm tiktoken JSON or .tiktoken lines")
	unicode := flag.String("unicode", "", "UnicodeData.txt `file`, to write character classes instead")
	out := flag.String("out", "", "output `file`")
	flag.Parse()
	if err := run(*in, *unicode, *out); err != nil {
		fmt.Fprintln(os.Stderr, "vocabgen:", err)
		os.Exit(1)
	}
}

func run(in, unicode, out string) error {
	if out == "" || (in == "") == (unicode == "") {
		return errors.New("want -out and exactly one of -in and -unicode")
	}
	var data []byte
	var err error
	if unicode != "" {
		data, err = packClasses(unicode)
	} else {
		data, err = packVocabulary(in)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(out, data, 0o644)
}

// packVocabulary writes the tokens in byte order, one column per property: the length shared with
// the previous token, the length of the rest, the offset between the token's two halves, its rank
// in two columns, and last the rests. Ranks are a permutation and do not compress; everything else
// does.
func packVocabulary(path string) ([]byte, error) {
	ranks, err := readRanks(path)
	if err != nil {
		return nil, err
	}
	tokens := make([]string, 0, len(ranks))
	for t := range ranks {
		tokens = append(tokens, t)
	}
	slices.Sort(tokens)

	var shared, rest, halves, rankLow, rankHigh, text []byte
	previous := ""
	for _, t := range tokens {
		half, err := splitPoint(t, ranks)
		if err != nil {
			return nil, err
		}
		n := sharedPrefix(previous, t)
		shared = append(shared, byte(n))
		rest = append(rest, byte(len(t)-n))
		halves = append(halves, byte(half))
		rankLow = binary.LittleEndian.AppendUint16(rankLow, uint16(ranks[t]))
		rankHigh = append(rankHigh, byte(ranks[t]>>16))
		text = append(text, t[n:]...)
		previous = t
	}

	size := binary.LittleEndian.AppendUint32(nil, uint32(len(tokens)))
	return packed.Pack(slices.Concat(size, shared, rest, halves, rankLow, rankHigh, text))
}

func sharedPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
