package overflow

import (
	"slices"
	"strconv"

	"github.com/precis-dev/precis/internal/lazyregexp"
)

// Exceeded is the limit, other than tokens, that an error names.
type Exceeded struct {
	// Images: there are too many images or other media, or one of many is too large.
	Images bool
	// AllMedia: with Images, documents, audio and video count, too.
	AllMedia bool
	// Messages is how many messages the API accepts; 0: the error does not state that there are too
	// many.
	Messages int
}

var (
	// aboutImages match errors of Anthropic, OpenAI, Google, Bedrock and servers of open models
	// that name images and exceed a limit. Damaged, unknown or unavailable images are a different
	// error.
	aboutImages = lazyregexp.New(`\b(?:images?|pictures?|photos?|screenshots?)\b`)
	aboutMedia  = lazyregexp.New(`\b(?:media|multimodal|multi-modal|pdf pages|pages of pdf|pdfs?|documents?|files?|attachments?|audios?|sounds?|videos?|clips?)\b`)
	tooMuch     = lazyregexp.New(`too many|many-image|exceed|at most|maximum|max(?:imum)? allowed|more than|limit|no more than|up to \d+|too large|larger than|too big`)
	otherwise   = lazyregexp.New(`unsupported|not supported|invalid (?:base64|image data|media type|url)|could not (?:be )?process|corrupt|download|fetch|rate limit|per minute|per day|quota|credit|billing`)

	// entries match the lists that hold the turns of a conversation.
	entries = lazyregexp.New(`\b(?:messages|contents|input|conversation|turns)\b`)
	// most find how many entries such a list may have.
	most = lazyregexp.All(
		`array too long[^.]*\.? *expected an array with maximum length (\d+)`,
		`(?:messages|contents|input|conversation|turns)\b[^.]{0,80}\b(?:at most|maximum(?: of| length(?: of)?)?|no more than|exceeds?(?: the)?(?: maximum| limit)?(?: of)?|max length|max(?:imum)? number of messages(?: of| is)?)(?: is| allowed)? *[:=]? *\(?(\d{2,6})\b`,
		`\b(?:too many|number of) (?:messages|contents|turns)\b.{0,80}?(?:>|\bmax(?:imum)?(?: allowed)?(?: is)?:?|\blimit(?: of| is)?:?) *\(?(\d{2,6})\b`,
		`\b(?:maximum(?: of)?|max|limit of|at most|up to|no more than|more than) (\d{2,6}) (?:messages|contents|turns|items in (?:messages|input))\b`,
		`\b(?:list|array|tuple)\b[^.]{0,40}\b(?:at most|no more than|maximum of) (\d{2,6}) (?:items|elements|entries)\b`,
	)
	// otherCounts match other quantities that such a number may count.
	otherCounts = lazyregexp.New(`token|character|byte|per (?:minute|hour|day|second)`)
)

// Limits returns the limit other than tokens that an error names; ok is false without one. Status
// and body are the arguments of [Classify]. Call that first: Limits does not detect errors about
// tokens.
func Limits(status int, body []byte) (e Exceeded, ok bool) {
	if status < 400 || status == 401 || status == 403 || status == 404 || status == 429 || status >= 500 {
		return e, false
	}
	var r reader
	r.read(body)
	// the place of the fault
	named := slices.ContainsFunc(r.texts,
		func(t string) bool { return t == "messages" || t == "input" || t == "contents" })
	for _, raw := range r.texts {
		t := fold(raw)
		if otherwise.MatchString(t) {
			continue
		}
		if n := mostEntries(t, named); n > 0 {
			e.Messages = n
		}
		if media := aboutMedia.MatchString(t); e.Messages == 0 && (media || aboutImages.MatchString(t)) &&
			tooMuch.MatchString(t) {
			e.Images, e.AllMedia = true, e.AllMedia || media
		}
	}
	return e, e.Images || e.Messages > 0
}

// mostEntries returns how many turns a folded text allows; 0 if it states no such limit. Named
// means that another text of the error names their list.
func mostEntries(t string, named bool) int {
	if otherCounts.MatchString(t) || !named && !entries.MatchString(t) {
		return 0
	}
	for _, r := range most {
		if m := r.FindStringSubmatch(t); m != nil {
			n, _ := strconv.Atoi(m[1]) // digits only; too many give 0
			return n
		}
	}
	return 0
}
