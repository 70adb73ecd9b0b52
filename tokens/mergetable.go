package tokens

import "math/bits"

// mergeTable is an open-addressing hash table from two token IDs to the ID of
// the token they merge into. A slot holds that ID and a few bits of the hash;
// the two IDs themselves are compared in vocabulary.halves.
type mergeTable struct {
	slots []uint32 // tag<<idBits | merged ID, 0 if free
	shift uint8    // 64 - log2(len(slots))
	// filter has a bit set for every merge, and few others: most lookups are
	// for pairs that do not merge, and the filter fits into a nearer cache.
	filter [1 << (filterBits - 6)]uint64
}

const filterBits = 21

// newMergeTable makes a table that n merges fill to at most a half.
func newMergeTable(n int) mergeTable {
	log := bits.Len(uint(2*n - 1))
	return mergeTable{slots: make([]uint32, 1<<log), shift: uint8(64 - log)}
}

func hashPair(left, right uint32) uint64 {
	h := (uint64(left)<<32 | uint64(right)) * 0x9E3779B97F4A7C15
	h ^= h >> 32
	return h * 0xD6E8FEB86659FD93
}

func (t *mergeTable) put(left, right, merged uint32) {
	h := hashPair(left, right)
	t.filter[h>>(70-filterBits)] |= 1 << (h >> (64 - filterBits) & 63)
	i := int(h >> (t.shift & 63))
	for t.slots[i] != 0 {
		i = (i + 1) & (len(t.slots) - 1)
	}
	t.slots[i] = uint32(h)&^(1<<idBits-1) | merged
}

// merged returns the token that left and right merge into, or none.
func (v *vocabulary) merged(left, right uint32) uint32 {
	h := hashPair(left, right)
	if v.merges.filter[h>>(70-filterBits)]>>(h>>(64-filterBits)&63)&1 == 0 {
		return none
	}
	return v.lookUp(h, left, right)
}

func (v *vocabulary) lookUp(h uint64, left, right uint32) uint32 {
	t := &v.merges
	for i := int(h >> (t.shift & 63)); ; i = (i + 1) & (len(t.slots) - 1) {
		slot := t.slots[i]
		if slot == 0 {
			return none
		}
		id := slot & (1<<idBits - 1)
		if (slot^uint32(h))>>idBits == 0 && v.halves[id] == [2]uint32{left, right} {
			return id
		}
	}
}
