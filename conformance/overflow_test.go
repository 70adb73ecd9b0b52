package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis/wire/overflow"
)

// overflowRow is one error of a provider and what it means. A number that the
// error does not state is absent.
type overflowRow struct {
	Provider string `json:"provider"`
	Status   int    `json:"http_status"`
	Body     string `json:"body"`
	Overflow bool   `json:"overflow"`
	Limit    int    `json:"limit"`
	Used     int    `json:"used"`
}

// vector reads a file of the vectors, whether the variable names their folder or
// the one of golden cases inside it.
func vector(t *testing.T, name string) []byte {
	t.Helper()
	dir := directory(t, "PRECIS_VECTORS")
	data, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		data, err = os.ReadFile(filepath.Join(dir, "..", name))
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestOverflow(t *testing.T) {
	var rows []overflowRow
	if err := json.Unmarshal(vector(t, "overflow_errors.json"), &rows); err != nil {
		t.Fatal(err)
	}
	var found, wrong, limits, uses tally
	for _, r := range rows {
		o, ok := overflow.Classify(r.Status, []byte(r.Body))
		if !r.Overflow {
			wrong.add(ok)
		} else {
			found.add(ok)
			limits.add(o.Limit == r.Limit)
			uses.add(o.Used == r.Used)
		}
		if ok != r.Overflow || o.Limit != r.Limit || o.Used != r.Used {
			t.Errorf("%s %d: %v %+v, want %v, limit %d, used %d\n%s", r.Provider, r.Status, ok, o, r.Overflow, r.Limit, r.Used, r.Body)
		}
	}
	t.Logf("overflow_errors: %v overflows found, %v look-alikes taken for one, %v limits read right, %v uses", found, wrong, limits, uses)
}

// tally counts how many of how many.
type tally struct{ n, of int }

func (c *tally) add(hit bool) {
	c.of++
	if hit {
		c.n++
	}
}

func (c tally) String() string { return fmt.Sprintf("%d of %d", c.n, c.of) }

func TestContextWindowExceeded(t *testing.T) {
	var v vectorFile
	if err := json.Unmarshal(vector(t, "roo/checkContextWindowExceededError.json"), &v); err != nil {
		t.Fatal(err)
	}
	passed, deviating := 0, map[string]int{}
	for _, c := range v.Cases {
		thrown := in[thrownError](t, c.Input)
		_, ok := overflow.Classify(thrown.status(), thrown.body())
		if want := in[struct{ Result bool }](t, c.Output).Result; ok == want {
			passed++
		} else if why := deviateOverflow(thrown, want); why != "" {
			deviating[why]++
		} else {
			t.Errorf("%s: %v, want %v\n%s", c.Name, ok, want, c.Input)
		}
	}
	var names []string
	for _, why := range slices.Sorted(maps.Keys(deviating)) {
		names = append(names, fmt.Sprintf("%s %d", why, deviating[why]))
	}
	t.Logf("checkContextWindowExceededError: %d cases, %d passed, deviating: %s", len(v.Cases), passed, strings.Join(names, ", "))
}

// thrownError is what can be seen of an error that a client library raised.
type thrownError struct {
	Error json.RawMessage
}

// status returns the HTTP status that the error carries, wherever it does.
func (e thrownError) status() int {
	var p struct {
		Status, Code any
		StatusCode   any `json:"status_code"`
		Response     struct{ Status any }
		Metadata     struct{ HTTPStatusCode any } `json:"$metadata"`
	}
	if json.Unmarshal(e.Error, &p) != nil {
		return 0
	}
	for _, v := range []any{p.Status, p.StatusCode, p.Response.Status, p.Metadata.HTTPStatusCode, p.Code} {
		if n, ok := v.(float64); ok && n > 0 {
			return int(n)
		}
	}
	return 0
}

// body returns the error's properties as JSON; nothing for a value that has
// none.
func (e thrownError) body() []byte {
	if len(e.Error) == 0 || e.Error[0] != '{' {
		return nil
	}
	return e.Error
}

const (
	otherStatus   = "status-other-than-400"
	wordingUnread = "wording-unread"
	outputLimit   = "output-limit-as-overflow"
	wordAlone     = "word-as-overflow"
)

// unread are wordings that the reference does not know.
var unread = []string{
	"reduce the length of the messages", "input token count", "input is too long", "maximum prompt length", "available context size",
	"range of input length", "exceeded model token limit", "prompt exceeds max length", "context_length_exceeded", "context-length exceeded",
}

// deviateOverflow recognizes the cases in which precis differs from the
// reference on purpose.
//
// status-other-than-400: the reference takes an error for an overflow only if a
// member it knows says 400. Overflows come with 413, 422, 500 and none at all,
// and some libraries name the member status_code.
//
// wording-unread: with status 400, it does not know what Bedrock, Cerebras, Gemini,
// Groq, llama.cpp, Moonshot, Qwen, xAI and Z.ai say, nor reads codes. The
// overflow is not handled, and the task stops.
//
// output-limit-as-overflow: it takes a limit on what the model may write for one
// on the window. Condensing does not help, so its three attempts are lost.
//
// word-as-overflow: it takes any error of status 400 that has the word "token" or
// "context length" for an overflow, though nothing is said to be exceeded.
func deviateOverflow(e thrownError, reference bool) string {
	text := strings.ToLower(string(e.Error))
	has := func(s string) bool { return strings.Contains(text, s) }
	switch {
	case reference && (has("output tokens") || has("max_tokens") || has("length limit was reached")):
		return outputLimit
	case reference && !has("exceed") && !has("too ") && !has("maximum"):
		return wordAlone
	case !reference && slices.ContainsFunc(unread, has):
		return wordingUnread
	case !reference && (e.status() != 400 || has("status_code")):
		return otherStatus
	}
	return ""
}
