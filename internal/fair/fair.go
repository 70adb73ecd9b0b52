// Package fair keeps one owner from taking a table that all share. A table that refuses
// what is too much lets nobody have more than [Most] of its places; one that gives up
// what is old gives up what [Oldest] says.
package fair

// Share is the part of the places that one owner may take.
const Share = 0.75

// Most returns how many of so many places one owner may take: at least one, when there
// is one.
func Most(places int) int { return max(int(Share*float64(places)), min(places, 1)) }

// Oldest returns the index of the entry that makes room for another one: the first of
// the owner that has most, among those that have as many of the owner whose entry comes
// first. It is -1 when there is none. The entries are sorted, the oldest first.
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
