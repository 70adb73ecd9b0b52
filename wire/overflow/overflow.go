// Package overflow determines whether the error of a language model API means that the request
// exceeded the model's context window. Use [Classify].
//
// Providers state this in many ways, and the same words occur in errors about rates, credits,
// output and files. So the body is parsed whatever its format (JSON, JSON inside strings, a dump of
// another language, plain text), and each text in it is matched against a small grammar: the
// quantity, the relation, and the limit. Texts about other errors are excluded first.
//
// The function is pure, safe for concurrent use, and never panics. It reads only a bounded part of
// the body.
package overflow

import "bytes"

// Overflow is the statement of an error about the window.
type Overflow struct {
	// Limit is the model's limit in tokens as the error states it, 0 if it does not. Limits in
	// characters or bytes are not reported.
	Limit int
	// Used is the size of the input in tokens as the error states it, 0 if it does not. It excludes
	// the requested output if the error states that separately.
	Used int
	// Bytes: the request had too many bytes for the server, not too many tokens for the model. A
	// smaller request helps, but the error contains no information about the window.
	Bytes bool
}

// Classify reports whether a response means that the context window overflowed. The status is the
// HTTP status, 0 if unknown; the body is the body of the response, the data of a streamed event, or
// the text of an error frame.
//
// A status of 402 or 429 is an overflow only when a single request exceeds the limit per time, so
// that waiting cannot help. A successful response is one only if it contains an error, or a stop
// reason that names the window. An empty body with status 413 is one, and with status 400 too:
// Cerebras answers that way, and a status of 400 without explanation is otherwise rare.
func Classify(status int, body []byte) (Overflow, bool) {
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		return Overflow{Bytes: status == 413}, status == 413 || status == 400
	case status > 0 && status < 300 && !eventful(body):
		return Overflow{}, false
	}
	r := reader{strict: status < 300, plain: status == 0}
	r.read(body)
	if status == 402 || status == 429 {
		for _, raw := range r.texts {
			if o, is := atOnce(fold(raw)); is {
				return o, true
			}
		}
		return Overflow{}, false
	}
	return judge(status, r.texts, r.fields)
}

// judge classifies the texts of an error. A text about rates or money decides for all of them,
// because the other texts then explain that limit.
//
// See [atOnce] for the exception.
func judge(status int, texts []string, fields map[string]int) (Overflow, bool) {
	var o Overflow
	found, large := false, status == 413
	for _, raw := range texts {
		t := fold(raw)
		if matches(rated, t) {
			return atOnce(t)
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

// limitFields and usedFields are the members with llama.cpp's numbers.
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
