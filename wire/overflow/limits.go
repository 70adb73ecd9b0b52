package overflow

import (
	"strconv"
	"strings"

	"precis/internal/lazyregexp"
)

// Exceeded says which limit of a request beside its tokens an error names.
type Exceeded struct {
	// Images: there are too many of them, or one among many is too large. Documents count.
	Images bool
	// Messages is how many messages the API takes at most; 0: it does not say that there are
	// too many.
	Messages int
}

var (
	// aboutImages are errors of Anthropic, OpenAI, Google, Bedrock and servers of open models
	// that name images and what there is too much of. That one is damaged, of a kind that is
	// not known, or not to be had is something else.
	aboutImages = lazyregexp.New(`\b(?:images?|pictures?|photos?|media|screenshots?|pdf pages|documents?|multimodal|multi-modal)\b`)
	tooMuch     = lazyregexp.New(`too many|many-image|exceed|at most|maximum|max(?:imum)? allowed|more than|limit|no more than|up to \d+|too large|larger than|too big`)
	otherwise   = lazyregexp.New(`unsupported|not supported|invalid (?:base64|image data|media type|url)|could not (?:be )?process|corrupt|download|fetch|rate limit|per minute|per day|quota|credit|billing`)

	arrayTooLong = lazyregexp.New(`array too long[^.]*\.? *expected an array with maximum length (\d+)`)
	listTooLong  = lazyregexp.New(`(?:messages|contents|input|conversation)\b[^.]{0,80}\b(?:at most|maximum(?: of| length(?: of)?)?|no more than|exceeds?(?: the)?(?: maximum| limit)?(?: of)?|max_length|max(?:imum)? number of messages(?: of| is)?) *:? *\(?(\d{2,6})\b`)
)

// Limits returns which other limit of a request an error names; not ok: none. Status and body
// are those of [Classify], which is asked first: an error about tokens is none of these.
func Limits(status int, body []byte) (e Exceeded, ok bool) {
	if status < 400 || status == 401 || status == 403 || status == 404 || status == 429 || status >= 500 {
		return e, false
	}
	var r reader
	r.read(body)
	for _, raw := range r.texts {
		t := fold(raw)
		if otherwise.MatchString(t) {
			continue
		}
		if m := arrayTooLong.FindStringSubmatch(t); m != nil && (strings.Contains(t, "'messages'") || strings.Contains(t, "'input'") || strings.Contains(t, "messages") || strings.Contains(t, "input")) {
			e.Messages, _ = strconv.Atoi(m[1])
		} else if m := listTooLong.FindStringSubmatch(t); m != nil && strings.Contains(t, "messages") && !strings.Contains(t, "token") && !strings.Contains(t, "character") {
			e.Messages, _ = strconv.Atoi(m[1])
		}
		e.Images = e.Images || e.Messages == 0 && aboutImages.MatchString(t) && tooMuch.MatchString(t)
	}
	return e, e.Images || e.Messages > 0
}
