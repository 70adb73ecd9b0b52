package models

import (
	"bytes"
	"fmt"
)

const (
	// maxOverrideBytes bounds an override file; a thousand models take a tenth.
	maxOverrideBytes = 1 << 20
	maxLineBytes     = 1000
	maxOpenBrackets  = 64
)

// checkShape refuses what no override file looks like before the YAML parser
// sees it: the parser takes 18 seconds for 64 KB of opening brackets.
func checkShape(data []byte) error {
	if len(data) > maxOverrideBytes {
		return fmt.Errorf("the file is larger than %d bytes", maxOverrideBytes)
	}
	number, open := 0, 0
	for line := range bytes.Lines(data) {
		number++
		if len(line) > maxLineBytes {
			return &lineError{line: number, err: fmt.Errorf("the line is longer than %d bytes", maxLineBytes)}
		}
		open += bytes.Count(line, []byte("[")) - bytes.Count(line, []byte("]"))
		open += bytes.Count(line, []byte("{")) - bytes.Count(line, []byte("}"))
		if open > maxOpenBrackets {
			return &lineError{line: number, err: fmt.Errorf("more than %d brackets are open", maxOpenBrackets)}
		}
	}
	return nil
}
