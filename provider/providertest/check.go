package providertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/precis-dev/precis/internal/jsonspan"
)

// Check returns what the API at a path, with or without /v1, would refuse in a
// request, in its own words; "" when the request is sound or the path is of no
// API known here. Keys and lengths are not looked at.
func Check(path string, header http.Header, body []byte) string {
	d, ok := dialectOf(path)
	if !ok {
		return ""
	}
	var fields object
	_ = json.Unmarshal(body, &fields) // a body that is no object lacks all fields
	if c := check(d, header, fields, Options{}); c.problem != nil {
		return c.problem.message
	}
	return ""
}

// dialectOf returns the dialect that is spoken at a path.
func dialectOf(path string) (dialect, bool) {
	i := slices.IndexFunc(dialects, func(d dialect) bool { return strings.TrimPrefix(path, "/v1") == d.path })
	if i < 0 {
		return dialect{}, false
	}
	return dialects[i], true
}

// check looks a request over.
func check(d dialect, header http.Header, fields object, o Options) checker {
	c := checker{options: o}
	c.check(len(fields) > 0, "body", "the body is no JSON object")
	c.check(strings.HasPrefix(header.Get("Content-Type"), "application/json"), "content-type",
		"the content type is not application/json")
	if d.name == "anthropic" {
		c.check(header.Get("Anthropic-Version") != "", "anthropic-version", "header is required")
	}
	if c.problem == nil {
		d.check(&c, fields)
	}
	return c
}

// checker finds the first thing that an API would refuse in a request.
type checker struct {
	options Options
	problem *failure
}

// check notes a problem unless ok or there is one already. It returns ok.
func (c *checker) check(ok bool, param, format string, args ...any) bool {
	if !ok && c.problem == nil {
		c.problem = failureOf(Reply{Fault: "bad_request"})
		c.problem.param = param
		c.problem.message = param + ": " + fmt.Sprintf(format, args...)
	}
	return ok
}

// refuse notes a problem that has a code of its own.
func (c *checker) refuse(code, param, format string, args ...any) {
	if c.problem == nil {
		c.check(false, param, format, args...)
		c.problem.code = code
		c.problem.message = fmt.Sprintf(format, args...)
	}
}

// object reads an object; it has no fields when it is something else.
func (c *checker) object(raw json.RawMessage, param string) object {
	o, err := jsonspan.Fields(raw)
	c.check(err == nil, param, "Input should be an object")
	return o
}

// list reads an array of at least least elements.
func (c *checker) list(raw json.RawMessage, param string, least int) []json.RawMessage {
	l, err := elements(raw)
	if c.check(err == nil, param, "Input should be a list") {
		c.check(len(l) >= least, param, "at least %d is needed", least)
	}
	return l
}

// elements takes an array apart.
func elements(raw json.RawMessage) (out []json.RawMessage, err error) {
	for e, err := range jsonspan.Array(raw) {
		if err != nil {
			return nil, err
		}
		out = append(out, e.Raw)
	}
	return out, nil
}

// word reads a string that is not empty.
func (c *checker) word(o object, param, name string) string {
	s := text(o[name])
	c.check(s != "", param+"."+name, "a string is required")
	return s
}

// str reads a string that may be empty.
func (c *checker) str(o object, param, name string) string {
	s, ok := jsonspan.String(o[name])
	c.check(ok, param+"."+name, "a string is required")
	return s
}

// one reads a string that is one of several.
func (c *checker) one(o object, param, name string, of ...string) string {
	s := text(o[name])
	c.check(slices.Contains(of, s), param+"."+name, "Invalid value %q, want one of %s", s,
		strings.Join(of, ", "))
	return s
}

// number reads a whole number of at least least, if the field is there.
func (c *checker) number(o object, name string, least int) (n int, there bool) {
	raw := o[name]
	if absent(raw) {
		return 0, false
	}
	n, err := strconv.Atoi(string(raw))
	if c.check(err == nil, name, "Input should be a whole number") {
		c.check(n >= least, name, "Input should be at least %d", least)
	}
	return n, true
}

func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

func isString(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '"' }

// streamOptions checks stream and what goes with it.
func (c *checker) streamOptions(o object) {
	stream := string(o["stream"])
	c.check(slices.Contains([]string{"", "null", "true", "false"}, stream), "stream",
		"Input should be a boolean")
	c.check(absent(o["stream_options"]) || stream == "true", "stream_options",
		"only allowed when 'stream' is enabled")
}

// tools checks the declarations of tools; each is checked by one.
func (c *checker) tools(o object, one func(tool object, param string)) {
	if absent(o["tools"]) {
		return
	}
	for i, raw := range c.list(o["tools"], "tools", 0) {
		param := fmt.Sprintf("tools.%d", i)
		one(c.object(raw, param), param)
	}
}

func at(param string, i int) string { return param + "." + strconv.Itoa(i) }
