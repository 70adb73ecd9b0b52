package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// classLetters names the class of each Unicode general category; categories
// that are not listed are class "o". White space overrides it.
var classLetters = map[string]byte{
	"Lu": 'U', "Lt": 'U', "Ll": 'l', "Lm": 'c', "Lo": 'c',
	"Mn": 'M', "Mc": 'M', "Me": 'M', "Nd": 'N', "Nl": 'N', "No": 'N',
}

// whiteSpace is the Unicode property White_Space, which \s means in the
// published patterns.
var whiteSpace = [][2]int{
	{0x09, 0x0d}, {0x20, 0x20}, {0x85, 0x85}, {0xa0, 0xa0}, {0x1680, 0x1680},
	{0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000},
}

// packClasses writes one line "<first code point in hex> <class>" for every
// run of equal class, in code point order.
func packClasses(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	classes := make([]byte, 0x110000)
	for i := range classes {
		classes[i] = 'o'
	}
	if err := readCategories(string(data), classes); err != nil {
		return nil, err
	}
	for _, r := range whiteSpace {
		for c := r[0]; c <= r[1]; c++ {
			classes[c] = 's'
		}
	}
	classes['\n'], classes['\r'] = 'n', 'n'

	var out []byte
	previous := byte(0)
	for c, class := range classes {
		if class != previous {
			out = fmt.Appendf(out, "%x %c\n", c, class)
			previous = class
		}
	}
	return out, nil
}

// readCategories reads the semicolon-separated lines of UnicodeData.txt, in
// which a name ending in "First>" opens a range that the next line closes.
func readCategories(data string, classes []byte) error {
	first := -1
	for line := range strings.Lines(data) {
		fields := strings.Split(line, ";")
		if len(fields) < 3 {
			continue
		}
		last, err := strconv.ParseUint(fields[0], 16, 32)
		if err != nil || int(last) >= len(classes) {
			return fmt.Errorf("bad code point %q", fields[0])
		}
		if strings.HasSuffix(fields[1], "First>") {
			first = int(last)
			continue
		}
		if !strings.HasSuffix(fields[1], "Last>") {
			first = int(last)
		}
		class, ok := classLetters[fields[2]]
		for c := first; ok && c <= int(last); c++ {
			classes[c] = class
		}
	}
	return nil
}
