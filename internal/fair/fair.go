// Package fair keeps one owner from using up a shared table. A table that refuses new entries
// allows an owner [Most] of its places; a table that evicts old entries evicts [Oldest].
package fair

// Share is the part of the places that one owner may use.
const Share = 0.75

// Most returns how many of the given places one owner may use: at least one, if there are any.
func Most(places int) int { return max(int(Share*float64(places)), min(places, 1)) }

// Oldest returns the index of the entry to evict: the oldest entry of the owner with the most
// entries; if several owners have as many, the one with the oldest entry. It is -1 without entries.
// The entries are sorted, the oldest first.
func Oldest[T any](entries []T, owner func(T) string) int {
	most, has := 0, map[string]int{}
	for _, e := range entries {
		has[owner(e)]++
		most = max(most, has[owner(e)])
	}
	for i, e := range entries {
		if has[owner(e)] == most {
			return i
		}
	}
	return -1
}
