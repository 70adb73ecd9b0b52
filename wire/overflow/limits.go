package overflow

import (
	"slices"
	"strconv"

	"precis/internal/lazyregexp"
)

// Exceeded says which limit of a request beside its tokens an error names.
type Exceeded struct {
	// Images: there are too many of them or of other media, or one among many is too large.
	Images bool
	// AllMedia: with Images, documents, sound and video count, too.
	AllMedia bool
	// Messages is how many messages the API takes at most; 0: it does not say that there are
	// too many.
	Messages int
}

var (
	// aboutImages are errors of Anthropic, OpenAI, Google, Bedrock and servers of open models
	// that name images and what there is too much of. That one is damaged, of a kind that is
	// not known, or not to be had is something else.
	aboutImages = lazyregexp.New(`\b(?:images?|pictures?|photos?|screenshots?)\b`)
	aboutMedia  = lazyregexp.New(`\b(?:media|multimodal|multi-modal|pdf pages|pages of pdf|pdfs?|documents?|files?|attachments?|audios?|sounds?|videos?|clips?)\b`)
	tooMuch     = lazyregexp.New(`too many|many-image|exceed|at most|maximum|max(?:imum)? allowed|more than|limit|no more than|up to \d+|too large|larger than|too big`)
	otherwise   = lazyregexp.New(`unsupported|not supported|invalid (?:base64|image data|media type|url)|could not (?:be )?process|corrupt|download|fetch|rate limit|per minute|per day|quota|credit|billing`)

	// entries are the lists that hold the turns of a conversation.
	entries = lazyregexp.New(`\b(?:messages|contents|input|conversation|turns)\b`)
	// most find how many entries such a list may have.
	most = lazyregexp.All(
		`array too long[^.]*\.? *expected an array with maximum length (\d+)`,
		`(?:messages|contents|input|conversation|turns)\b[^.]{0,80}\b(?:at most|maximum(?: of| length(?: of)?)?|no more than|exceeds?(?: the)?(?: maximum| limit)?(?: of)?|max length|max(?:imum)? number of messages(?: of| is)?)(?: is| allowed)? *[:=]? *\(?(\d{2,6})\b`,
		`\b(?:too many|number of) (?:messages|contents|turns)\b.{0,80}?(?:>|\bmax(?:imum)?(?: allowed)?(?: is)?:?|\blimit(?: of| is)?:?) *\(?(\d{2,6})\b`,
		`\b(?:maximum(?: of)?|max|limit of|at most|up to|no more than|more than) (\d{2,6}) (?:messages|contents|turns|items in (?:messages|input))\b`,
		`\b(?:list|array|tuple)\b[^.]{0,40}\b(?:at most|no more than|maximum of) (\d{2,6}) (?:items|elements|entries)\b`,
	)
	// otherCounts are what such a number may count instead.
	otherCounts = lazyregexp.New(`token|character|byte|per (?:minute|hour|day|second)`)
)

// Limits returns which other limit of a request an error names; not ok: none. Status and body
// are those of [Classify], which is asked first: an error about tokens is none of these.
func Limits(status int, body []byte) (e Exceeded, ok bool) {
	if status < 400 || status == 401 || status == 403 || status == 404 || status == 429 || status >= 500 {
		return e, false
	}
	var r reader
	r.read(body)
	named := slices.ContainsFunc(r.texts, func(t string) bool { return t == "messages" || t == "input" || t == "contents" }) // the place of the fault
	for _, raw := range r.texts {
		t := fold(raw)
		if otherwise.MatchString(t) {
			continue
		}
		if n := mostEntries(t, named); n > 0 {
			e.Messages = n
		}
		if media := aboutMedia.MatchString(t); e.Messages == 0 && (media || aboutImages.MatchString(t)) && tooMuch.MatchString(t) {
			e.Images, e.AllMedia = true, e.AllMedia || media
		}
	}
	return e, e.Images || e.Messages > 0
}

// mostEntries returns how many turns a folded text allows at most; 0: it says nothing of
// that. Named: another text of the error names their list.
func mostEntries(t string, named bool) int {
	if otherCounts.MatchString(t) || !named && !entries.MatchString(t) {
		return 0
	}
	for _, r := range most {
		if m := r.FindStringSubmatch(t); m != nil {
			n, _ := strconv.Atoi(m[1]) // digits; too many make them 0
			return n
		}
	}
	return 0
}
