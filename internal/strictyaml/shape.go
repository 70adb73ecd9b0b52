package strictyaml

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

const (
	// maxBytes bounds a file; a thousand models take a tenth.
	maxBytes        = 1 << 20
	maxLineBytes    = 1000
	maxOwnLineBytes = 16_000
	maxOpenBrackets = 64
)

// checkShape refuses extreme input before the YAML parser sees it: the parser takes 18 seconds for
// 64 KB of opening brackets.
func checkShape(data []byte, longest int) error {
	if len(data) > maxBytes {
		return fmt.Errorf("the file is larger than %d bytes", maxBytes)
	}
	number, open := 0, 0
	for line := range bytes.Lines(data) {
		number++
		if len(line) > longest {
			return &Error{Line: number, Err: fmt.Errorf("the line is longer than %d bytes", longest)}
		}
		open += bytes.Count(line, []byte("[")) - bytes.Count(line, []byte("]"))
		open += bytes.Count(line, []byte("{")) - bytes.Count(line, []byte("}"))
		if open > maxOpenBrackets {
			return &Error{Line: number, Err: fmt.Errorf("more than %d brackets are open", maxOpenBrackets)}
		}
	}
	return nil
}

// Mark is the byte order mark, which some editors write.
const Mark = "\xef\xbb\xbf"

// Normal returns a document as [Parse] reads it; lines and columns refer to this form. It has no
// byte order mark, and each line end is one byte, because the parser would count the end of a
// comment with a carriage return twice.
func Normal(data []byte) []byte {
	return bytes.ReplaceAll(bytes.TrimPrefix(data, []byte(Mark)), []byte("\r\n"), []byte("\n"))
}

// Parse parses one YAML document. An empty one gives nil. Files over a megabyte and lines over 1000
// bytes are refused.
func Parse(data []byte) (ast.Node, error) { return parse(data, maxLineBytes) }

// ParseOwn is Parse for a trusted file of the user: it may contain long prompts, so lines up to
// 16,000 bytes are accepted.
func ParseOwn(data []byte) (ast.Node, error) { return parse(data, maxOwnLineBytes) }

func parse(data []byte, longest int) (ast.Node, error) {
	if err := checkShape(data, longest); err != nil {
		return nil, err
	}
	file, err := parser.ParseBytes(Normal(data), 0)
	if err != nil {
		return nil, syntaxError(err)
	}
	if len(file.Docs) > 1 {
		return nil, errors.New("there is more than one document in the file")
	}
	if len(file.Docs) == 0 || Empty(file.Docs[0].Body) {
		return nil, nil
	}
	return file.Docs[0].Body, nil
}

// Empty reports whether a node is empty.
func Empty(body ast.Node) bool {
	switch body.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		return true
	}
	return false
}

// syntaxError keeps the line and the message of the parser's error and drops
// the excerpt of the source it prints.
func syntaxError(err error) error {
	var y yaml.Error
	if errors.As(err, &y) && y.GetToken() != nil && y.GetToken().Position != nil {
		return &Error{Line: y.GetToken().Position.Line, Err: errors.New(y.GetMessage())}
	}
	return err
}
