//go:build race

package hostile_test

const raced = true
