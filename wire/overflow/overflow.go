// Package overflow determines whether the error of an API of language models means
// that the request was larger than the model's context window. Use [Classify].
//
// Providers state this in many ways, and the same words occur in errors about
// rates, credits, output and files. So the body is parsed whatever its format
// (JSON, JSON inside strings, a dump of another language, plain text), and each
// text in it is matched against a small grammar: what is too large, in which
// relation, to which limit. Texts about something else are excluded first.
//
// The function is pure, safe for concurrent use, and never panics. It reads a
// bounded part of the body only.
package overflow

import "bytes"

// Overflow is what an error states about the window.
type Overflow struct {
	// Limit is the model's limit in tokens as the error states it, 0 when it
	// does not. Limits in characters or bytes are not reported.
	Limit int
	// Used is the size of the input in tokens as the error states it, 0 when it
	// does not. The requested output is left out where the error states it
	// separately.
	Used int
	// Bytes states that the request had too many bytes for the server, not too
	// many tokens for the model. A smaller request helps, but the error says
	// nothing about the window.
	Bytes bool
}

// Classify reports whether a response means that the context window overflowed.
// The status is that of HTTP, 0 when it is not known; the body is that of the
// response, the data of a streamed event, or the text of an error frame.
//
// A status of 402 or 429 is an overflow only when one request asks for more than the
// limit over time allows at all, so that waiting cannot help. A successful response is one
// only by an error inside it, or by a stop reason that names the window. An
// empty body with status 413 is one, and with status 400 too: Cerebras answers
// in that way, and a status of 400 without explanation is otherwise rare.
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

// judge classifies the texts of an error. A text about rates or money decides
// for all of them: the other texts then explain that limit.
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

// limitFields and usedFields are the members in which llama.cpp states the
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
