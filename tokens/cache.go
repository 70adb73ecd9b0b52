package tokens

import "encoding/binary"

// maxCached is the length in bytes of the longest piece that is cached.
const maxCached = 15

const cacheBits = 14

// pieceCache caches the token counts of recent short pieces. Every piece has a set of two slots;
// the first holds the most recently used one.
type pieceCache [1 << cacheBits][2]pieceKey

// pieceKey is a piece with its count: the text, padded with zeros, in low and
// the lower 56 bits of high, then four bits each of length and token count.
// Both are at most 15, because a token has at least one byte.
type pieceKey struct{ low, high uint64 }

const countShift = 60

func makeKey(text string, start, end int) pieceKey {
	n := uint(end - start)
	var k pieceKey
	if start+16 <= len(text) {
		b := text[start : start+16]
		k.low = load(b[:8])
		k.high = load(b[8:])
	} else {
		var b [16]byte
		copy(b[:], text[start:end])
		k.low = binary.LittleEndian.Uint64(b[:8])
		k.high = binary.LittleEndian.Uint64(b[8:])
	}
	if n <= 8 {
		return pieceKey{k.low & (1<<(8*n) - 1), uint64(n) << 56}
	}
	return pieceKey{k.low, k.high&(1<<(8*n-64)-1) | uint64(n)<<56}
}

// load reads eight bytes, least significant first.
func load(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func (c *pieceCache) set(k pieceKey) *[2]pieceKey {
	h := (k.low ^ k.high*0x9FB21C651E98DF25) * 0x9E3779B97F4A7C15
	return &c[h>>(64-cacheBits)]
}

func (k *pieceKey) same(other pieceKey) bool {
	return k.low == other.low && (k.high^other.high)<<(64-countShift) == 0
}

func (k *pieceKey) count() int { return int(k.high >> countShift) }

// counted returns the key with its token count.
func (k pieceKey) counted(count int) pieceKey {
	return pieceKey{k.low, k.high | uint64(count)<<countShift}
}

// maxLongCached is the length in bytes of the longest piece in longCache, so that an entry fills a
// cache line.
const maxLongCached = 62

const longCacheBits = 13

// longCache is a pieceCache for pieces longer than maxCached.
type longCache [1 << longCacheBits]longPiece

type longPiece struct {
	size, count uint8
	text        [maxLongCached]byte
}

// slot returns the slot of a piece of at least 16 bytes. It hashes only the ends of the piece: a
// collision only costs time.
func (c *longCache) slot(piece string) *longPiece {
	head, middle, tail := load(piece), load(piece[len(piece)/2-4:]), load(piece[len(piece)-8:])
	h := (head^tail*0x9FB21C651E98DF25)*0x9E3779B97F4A7C15 ^ middle*0xD6E8FEB86659FD93
	return &c[(h^uint64(len(piece)))*0x9E3779B97F4A7C15>>(64-longCacheBits)]
}

func (p *longPiece) same(piece string) bool {
	return string(p.text[:p.size]) == piece
}

func (p *longPiece) set(piece string, count int) {
	p.size, p.count = uint8(len(piece)), uint8(count)
	copy(p.text[:], piece)
}
