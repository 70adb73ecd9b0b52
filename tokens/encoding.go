package tokens

import (
	_ "embed"
	"sync"
)

// The inputs are encoders/*.json of the npm package tiktoken 1.0.22 and UnicodeData.txt of Unicode
// 16.0; see NOTICE for their licences.
//
//go:generate go -C ../lab run ./vocabgen -in ../tokens/o200k_base.json -out ../tokens/data/o200k_base.vocab.packed
//go:generate go -C ../lab run ./vocabgen -in ../tokens/cl100k_base.json -out ../tokens/data/cl100k_base.vocab.packed
//go:generate go -C ../lab run ./vocabgen -unicode ../tokens/UnicodeData.txt -out ../tokens/data/classes.txt

var (
	//go:embed data/o200k_base.vocab.packed
	o200kData []byte
	//go:embed data/cl100k_base.vocab.packed
	cl100kData []byte
)

// Encoding counts and lists the tokens of a text in one of OpenAI's byte-level
// BPE vocabularies, exactly as the tiktoken library does. An Encoding never
// changes and is safe for concurrent use; get one from [O200k] or [Cl100k].
//
// Text that looks like a special token, such as "<|endoftext|>", is ordinary
// text. Text that is not valid UTF-8 is read the way browsers and JavaScript
// decode it: every maximal part of an ill-formed sequence becomes one U+FFFD
// (Unicode Standard, section 3.9; WHATWG Encoding).
type Encoding struct {
	name    string
	split   splitter
	vocab   *vocabulary
	workers sync.Pool // of *worker
}

// O200k returns o200k_base, the encoding of GPT-4o and later OpenAI models.
// The first call loads its tables, which takes some tens of milliseconds.
func O200k() *Encoding { return o200k() }

// Cl100k returns cl100k_base, the encoding of GPT-4 and GPT-3.5.
// The first call loads its tables, which takes some tens of milliseconds.
func Cl100k() *Encoding { return cl100k() }

var (
	o200k = sync.OnceValue(func() *Encoding {
		return newEncoding("o200k_base", true, o200kData)
	})
	cl100k = sync.OnceValue(func() *Encoding {
		return newEncoding("cl100k_base", false, cl100kData)
	})
)

func newEncoding(name string, cased bool, data []byte) *Encoding {
	e := &Encoding{name: name, split: splitter{classes(), cased}, vocab: loadVocabulary(data)}
	e.workers.New = func() any { return newWorker(e) }
	return e
}

// Name returns the published name of the encoding, such as "o200k_base".
func (e *Encoding) Name() string { return e.name }

// Count returns the number of tokens in text. It does not allocate once its buffers are warm, and
// takes time proportional to the length of text.
func (e *Encoding) Count(text string) int {
	w := e.workers.Get().(*worker)
	n := w.count(validUTF8(text))
	e.workers.Put(w)
	return n
}

// Encode returns the token IDs of text, nil for the empty text. The caller
// owns the slice.
func (e *Encoding) Encode(text string) []int {
	w := e.workers.Get().(*worker)
	defer e.workers.Put(w)
	text = validUTF8(text)
	var ids []int
	for start := 0; start < len(text); {
		end := e.split.next(text, start)
		for _, id := range w.merge(text[start:end]) {
			ids = append(ids, int(id))
		}
		start = end
	}
	return ids
}

// Decode returns the text of the token IDs. Unknown IDs, which include those
// of special tokens, stand for no text. Because a token may end inside a
// character, decoding part of a text can give invalid UTF-8.
func (e *Encoding) Decode(ids []int) string {
	var text []byte
	for _, id := range ids {
		if id >= 0 && id < e.vocab.size() {
			text = append(text, e.vocab.bytes(uint32(id))...)
		}
	}
	return string(text)
}
