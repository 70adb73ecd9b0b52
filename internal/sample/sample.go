// Package sample selects the part of a long test loop that one run covers: with -short a small part,
// usually a larger one, and everything when PRECIS_ALL is set, as make full does. The selection rotates
// with PRECIS_SEED, so that consecutive commits cover different parts; equal seeds select equal parts.
//
//precis:testonly
package sample

import (
	"hash/fnv"
	"os"
	"testing"
)

// All reports whether loops run without sampling: the environment variable PRECIS_ALL is set.
func All() bool { return os.Getenv("PRECIS_ALL") != "" }

// OneIn returns a function that reports whether the element at an index runs: one in short elements
// with -short, otherwise one in usual. Zero selects none. Each run of consecutive indices that is as
// long as the interval has exactly one selected element. It logs the seed when t leaves something out.
func OneIn(t testing.TB, short, usual int) func(i int) bool {
	t.Helper()
	n := Of(short, usual, 1)
	if n == 1 {
		return func(int) bool { return true }
	}
	if n == 0 {
		t.Log("runs none with -short")
		return func(int) bool { return false }
	}
	seed := os.Getenv("PRECIS_SEED")
	t.Logf("runs one in %d, selected by PRECIS_SEED=%q; PRECIS_ALL=1 runs all", n, seed)
	h := fnv.New64a()
	_, _ = h.Write([]byte(seed + "\x00" + t.Name()))
	offset := int(h.Sum64() % uint64(n))
	return func(i int) bool { return (i+offset)%n == 0 }
}

// Of returns the number for this run: short with -short, all when PRECIS_ALL is set, usual otherwise.
func Of(short, usual, all int) int {
	switch {
	case All():
		return all
	case testing.Short():
		return short
	default:
		return usual
	}
}
