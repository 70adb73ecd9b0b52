package tokens

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// classSet is a set of the character classes that the patterns distinguish.
type classSet uint8

const (
	upper    classSet = 1 << iota // Lu, Lt
	lower                         // Ll
	caseless                      // Lm, Lo
	mark                          // M
	number                        // N
	space                         // White_Space without CR and LF
	newline                       // CR, LF
	other                         // everything else

	letter     = upper | lower | caseless
	whiteSpace = space | newline
)

// classData lists the classes of Unicode 16.0, the version that tiktoken's
// regular expressions know: lines "<first code point in hex> <class letter>",
// each valid up to the next. Go's own tables are of another version and may
// change with the toolchain, which would change counts.
//
//go:embed data/classes.txt
var classData string

var classOfLetter = map[byte]classSet{
	'U': upper, 'l': lower, 'c': caseless, 'M': mark,
	'N': number, 's': space, 'n': newline, 'o': other,
}

const (
	runes     = 0x110000 // code points in Unicode
	pageBits  = 7
	pageCount = runes >> pageBits
)

// classTable maps bytes and code points to classes.
type classTable struct {
	ascii [256]classSet     // bytes below 0x80; 0 for all others
	lanes [256]uint64       // bytes, see laneOf
	page  [pageCount]uint16 // code point >> pageBits → number of its page
	pages []classSet        // the distinct pages
}

// of returns the class of a valid code point.
func (t *classTable) of(r rune) classSet {
	return t.pages[int(t.page[r>>pageBits])<<pageBits|int(r&(1<<pageBits-1))]
}

// at returns the class of the character of text at i and its length in bytes.
// The text must be valid UTF-8.
func (t *classTable) at(text string, i int) (classSet, int) {
	b := text[i]
	switch {
	case b < 0x80:
		return t.ascii[b], 1
	case b < 0xE0:
		return t.of(rune(b&0x1F)<<6 | rune(text[i+1]&0x3F)), 2
	case b < 0xF0:
		return t.of(rune(b&0x0F)<<12 | rune(text[i+1]&0x3F)<<6 | rune(text[i+2]&0x3F)), 3
	}
	return t.of(rune(b&0x07)<<18 | rune(text[i+1]&0x3F)<<12 |
		rune(text[i+2]&0x3F)<<6 | rune(text[i+3]&0x3F)), 4
}

// classes returns the table of all characters, built on first use.
var classes = sync.OnceValue(func() *classTable {
	all := make([]classSet, runes)
	start, class := 0, other
	fill := func(end int) {
		for i := start; i < end; i++ {
			all[i] = class
		}
	}
	for line := range strings.Lines(classData) {
		field, letter, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		first, err := strconv.ParseUint(field, 16, 32)
		if err != nil {
			panic("tokens: embedded class table: " + err.Error())
		}
		fill(int(first))
		start, class = int(first), classOfLetter[letter[0]]
	}
	fill(runes)

	t := new(classTable)
	copy(t.ascii[:0x80], all)
	for b := range t.lanes {
		t.lanes[b] = laneOf(byte(b), t.ascii[b])
	}
	known := make(map[[1 << pageBits]classSet]uint16)
	for i := range t.page {
		page := [1 << pageBits]classSet(all[i<<pageBits:])
		n, ok := known[page]
		if !ok {
			n = uint16(len(known))
			known[page] = n
			t.pages = append(t.pages, page[:]...)
		}
		t.page[i] = n
	}
	return t
})
