package preview

import (
	"strings"
	"unicode/utf8"
)

const (
	maxPiece = 240 // bytes of the longest piece
	minPiece = 40  // bytes of the shortest part of a cut line
)

// pieces makes pieces of the lines from..to and appends them to out.
func (d *document) pieces(from, to int, out []Piece) []Piece {
	if out == nil {
		out = make([]Piece, 0, to-from)
	}
	for i := from; i < to; i++ {
		l := &d.lines[i]
		out = appendCut(out, d.text, l.start, l.end, l.class)
	}
	return out
}

// appendCut appends text[start:end] as one piece, or as several when it is long. The pieces after
// the first one of a headline are detail, and encoded data is noise.
func appendCut(out []Piece, text string, start, end int, c Class) []Piece {
	for end-start > maxPiece {
		at, hard := cutPoint(text, start, end)
		out = append(out, Piece{start, at, c})
		start = at
		c = min(c, Detail)
		if hard && encoded(text[start:min(end, start+maxPiece)]) {
			c = Noise
		}
	}
	if end > start {
		out = append(out, Piece{start, end, c})
	}
	return out
}

// cutPoint returns where to cut text[start:end], which is longer than a piece; hard reports that
// there is no natural break.
func cutPoint(text string, start, end int) (at int, hard bool) {
	limit := min(start+maxPiece, end-minPiece)
	bestAt, best := 0, 0
	for i := limit - 1; i >= start+2*minPiece; i-- {
		rank := breakAfter(text, i)
		if rank > best {
			best, bestAt = rank, i+1
		}
		if best == 4 || best > 1 && i < limit-3*minPiece {
			break
		}
	}
	if best > 0 {
		return bestAt, false
	}
	return runeStart(text, limit), true
}

// breakAfter ranks how well text can be cut after byte i: 0 is not at all. The
// byte after i is within the text.
func breakAfter(text string, i int) int {
	next := text[i+1]
	switch text[i] {
	case '.', '!', '?':
		if next == ' ' {
			return 0 // after the space
		}
	case ' ':
		if p := text[i-1]; next != ' ' && (p == '.' || p == '!' || p == '?' || p == ';') {
			return 4
		}
		if text[i-1] == ',' {
			return 3
		}
		return 1
	case ',', ';', '}':
		if next == ',' || next == ' ' || next == ';' {
			return 0
		}
		return 3
	case '>':
		if next == '<' {
			return 3
		}
		return 2
	case '|', '\t', '&':
		return 1
	}
	return 0
}

// runeStart returns at, or the start of the UTF-8 sequence that a cut at at would split, at most
// three bytes before.
func runeStart(text string, at int) int {
	for i := at; i > at-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			return i
		}
	}
	return at
}

// encoded reports text like base64 or hexadecimal: long, and without signs that end a word.
func encoded(s string) bool {
	if len(s) < 4*minPiece {
		return false
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; !isWord(c) && c != '+' && c != '/' && c != '=' && c != '-' && !isSpace(c) {
			return false
		}
	}
	return strings.IndexByte(s[:len(s)-2], ' ') < 0
}
