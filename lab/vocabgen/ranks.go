package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// maxToken is the longest token, in bytes, that the packed format can hold.
const maxToken = 255

// readRanks reads token text → rank from either published format.
func readRanks(path string) (map[string]int, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	ranks := make(map[string]int)
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		err = readNPM(data, ranks)
	} else {
		err = readTiktoken(data, ranks)
	}
	if err != nil {
		return nil, err
	}
	return ranks, checkRanks(ranks)
}

// readNPM reads {"bpe_ranks": "! <first rank> <token> <token> …\n…"}.
func readNPM(data []byte, ranks map[string]int) error {
	var file struct {
		Ranks string `json:"bpe_ranks"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return err
	}
	for line := range strings.Lines(file.Ranks) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		first, err := strconv.Atoi(fields[1])
		if err != nil {
			return err
		}
		for i, field := range fields[2:] {
			if err := add(ranks, field, first+i); err != nil {
				return err
			}
		}
	}
	return nil
}

// readTiktoken reads lines of "<base64 token> <rank>".
func readTiktoken(data []byte, ranks map[string]int) error {
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		field, number, found := strings.Cut(lines.Text(), " ")
		if !found {
			continue
		}
		rank, err := strconv.Atoi(number)
		if err != nil {
			return err
		}
		if err := add(ranks, field, rank); err != nil {
			return err
		}
	}
	return lines.Err()
}

func add(ranks map[string]int, field string, rank int) error {
	token, err := base64.StdEncoding.DecodeString(field)
	if err != nil {
		return fmt.Errorf("token of rank %d: %w", rank, err)
	}
	if len(token) == 0 || len(token) > maxToken {
		return fmt.Errorf("token of rank %d has %d bytes", rank, len(token))
	}
	ranks[string(token)] = rank
	return nil
}

// checkRanks verifies that ranks count from 0 without gaps and that the 256 single bytes have the
// ranks 0 to 255, as the loader requires.
func checkRanks(ranks map[string]int) error {
	seen := make([]bool, len(ranks))
	for token, rank := range ranks {
		if rank >= len(seen) || seen[rank] {
			return fmt.Errorf("rank %d is out of range or used twice", rank)
		}
		seen[rank] = true
		if (len(token) == 1) != (rank < 256) {
			return fmt.Errorf("token %q has rank %d", token, rank)
		}
	}
	return nil
}

// splitPoint returns the length of the left one of the two tokens that merge into token, or 0 for a
// single byte. It fails when the merges of lower rank do not end in exactly two tokens: the
// algorithm in tokens/merge.go is exact only if every token of the vocabulary is such a merge.
func splitPoint(token string, ranks map[string]int) (int, error) {
	ends := make([]int, len(token)+1)
	for i := range ends {
		ends[i] = i
	}
	for len(ends) > 3 {
		at, lowest := 0, ranks[token]
		for i := 1; i+1 < len(ends); i++ {
			rank, ok := ranks[token[ends[i-1]:ends[i+1]]]
			if ok && rank < lowest {
				at, lowest = i, rank
			}
		}
		if at == 0 {
			return 0, fmt.Errorf("token %q cannot be reached by merging", token)
		}
		ends = append(ends[:at], ends[at+1:]...)
	}
	if len(ends) == 2 {
		return 0, nil
	}
	return ends[1], nil
}
