package control

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/precis-dev/precis"
)

// mostBody is the longest request body, in bytes.
const mostBody = 1 << 20

const opBody = "read request"

// body decodes the request's JSON object into v; an empty body counts as an empty object.
func (c *call) body(v any) error {
	data, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, mostBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return refuse(http.StatusRequestEntityTooLarge, codeTooLarge,
			fmt.Sprintf("the body has more than %d bytes", mostBody), "")
	case err != nil:
		return invalid(opBody, "body", err.Error(), "")
	case len(data) == 0:
		return nil
	}
	if err := json.Unmarshal(data, v, json.RejectUnknownMembers(true)); err != nil {
		return explain(err)
	}
	return nil
}

// explain returns an error that states the fault of a body and its place.
func explain(err error) error {
	place := func(p jsontext.Pointer, at int64) string {
		if p == "" {
			return fmt.Sprintf("body: byte %d", at)
		}
		return fmt.Sprintf("body: %s: byte %d", p, at)
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return invalid(opBody, place(syntax.JSONPointer, syntax.ByteOffset), syntax.Err.Error(), "")
	}
	var semantic *json.SemanticError
	if !errors.As(err, &semantic) {
		return invalid(opBody, "body", err.Error(), "")
	}
	text := "this cannot stand here"
	if name, ok := kinds[semantic.JSONKind]; ok {
		text = name + " cannot stand here"
	}
	switch {
	case errors.Is(semantic.Err, json.ErrUnknownName):
		text = "there is no such field"
	case semantic.Err != nil:
		text = semantic.Err.Error()
	}
	if own, ok := errors.AsType[*precis.Error](semantic.Err); ok {
		return invalid(opBody, place(semantic.JSONPointer, semantic.ByteOffset), text, own.Hint)
	}
	return invalid(opBody, place(semantic.JSONPointer, semantic.ByteOffset), text, "")
}

// kinds are the names of JSON kinds.
var kinds = map[jsontext.Kind]string{
	'n': "null", 't': "true", 'f': "false", '"': "a string", '0': "a number", '{': "an object",
	'[': "an array",
}

const opQuery = "read query"

func parseQuery(r *http.Request) (url.Values, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, invalid(opQuery, "", err.Error(), "")
	}
	for name, values := range q {
		if len(values) > 1 {
			return nil, invalid(opQuery, name, "it stands twice", "")
		}
	}
	return q, nil
}

// reader reads parameters; err is the first error.
type reader struct {
	q   url.Values
	err error
}

func (c *call) reader() *reader { return &reader{q: c.r.URL.Query()} }

func (q *reader) text(name string) string { return q.q.Get(name) }

func (q *reader) number(name string) int {
	s := q.q.Get(name)
	if s == "" {
		return 0
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		q.fail(name, fmt.Sprintf("%.40q is no whole number", s))
	}
	return n
}

// size reads a number of at least 1; 0 when it is absent.
func (q *reader) size(name string) int {
	n := q.number(name)
	if n < 1 && q.q.Get(name) != "" {
		q.fail(name, "it must be at least 1")
	}
	return n
}

// boolean reads true or false; false when it is absent.
func (q *reader) boolean(name string) bool {
	switch s := q.q.Get(name); s {
	case "true":
		return true
	case "", "false":
	default:
		q.fail(name, fmt.Sprintf("%.40q is neither true nor false", s))
	}
	return false
}

func (q *reader) time(name string) time.Time {
	s := q.q.Get(name)
	if s == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		q.fail(name, fmt.Sprintf("%.40q is no time such as 2026-01-31T12:00:00Z", s))
	}
	return t
}

func (q *reader) fail(name, text string) {
	if q.err == nil {
		q.err = invalid(opQuery, name, text, "")
	}
}
