// Package overflow tells whether the error of an API of language models means
// that the request was larger than the model's context window. Use [Classify].
//
// Providers say this in many ways, and the same words occur in errors about
// rates, credits, output and files. So the body is taken apart whatever its
// shape (JSON, JSON inside strings, a dump of another language, plain text), and
// each text in it is read by a small grammar: what is too large, in which
// relation, to which limit. Texts about something else are told apart first.
//
// The function is pure, safe for concurrent use, and never panics. It looks at
// a bounded part of the body only.
package overflow

import "bytes"

// Overflow is what an error tells of the window.
type Overflow struct {
	// Limit is how many tokens the error says the model takes, 0 when it does
	// not say. Limits in characters or bytes are not given.
	Limit int
	// Used is how many tokens the error says the input has, 0 when it does not
	// say. The output that was requested is left out where it is told apart.
	Used int
	// Bytes: the request was too large to be read, not too long for the model.
	// A smaller one helps, but the error says nothing of the window.
	Bytes bool
}

// Classify reports whether a response says that the context window overflowed.
// The status is that of HTTP, 0 when it is not known; the body is that of the
// response, the data of a streamed event, or the text of an error frame.
//
// A status of 402 or 429 is never an overflow. A successful response is one
// only by an error inside it, or by a stop reason that names the window. An
// empty body with status 413 is one, and with status 400 too: so does Cerebras
// answer, and a body that explains nothing is otherwise rare.
func Classify(status int, body []byte) (Overflow, bool) {
	switch {
	case status == 402 || status == 429:
		return Overflow{}, false
	case len(bytes.TrimSpace(body)) == 0:
		return Overflow{Bytes: status == 413}, status == 413 || status == 400
	case status > 0 && status < 300 && !eventful(body):
		return Overflow{}, false
	}
	r := reader{strict: status < 300, plain: status == 0}
	r.read(body)
	return judge(status, r.texts, r.fields)
}

// judge reads the texts of an error. One that speaks of rates or money decides
// for all of them: what else they say is about that.
func judge(status int, texts []string, fields map[string]int) (Overflow, bool) {
	var o Overflow
	found, large := false, status == 413
	for _, raw := range texts {
		t := fold(raw)
		if matches(rated, t) {
			return Overflow{}, false
		}
		switch subject(t) {
		case aboutWindow:
			found = true
			o.count(t)
		case aboutBytes:
			large = true
		case aboutOther:
			large = large && status != 413
		}
	}
	if n, ok := first(fields, limitFields); ok {
		o.Limit, found = n, true
		if n, ok := first(fields, usedFields); ok {
			o.Used = n
		}
	}
	if found {
		return o, true
	}
	return Overflow{Bytes: large}, large
}

// limitFields and usedFields are the members by which llama.cpp gives the
// numbers.
var (
	limitFields = []string{"n_ctx"}
	usedFields  = []string{"n_prompt_tokens"}
)

func first(fields map[string]int, names []string) (int, bool) {
	for _, name := range names {
		if n := fields[name]; plausible(n) {
			return n, true
		}
	}
	return 0, false
}
