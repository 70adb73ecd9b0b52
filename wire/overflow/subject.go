package overflow

import "github.com/precis-dev/precis/internal/lazyregexp"

// topic is the subject of a text.
type topic int

const (
	aboutNothing topic = iota
	aboutWindow
	aboutBytes
	aboutOther // another part of the request that can be too large
)

// rated matches texts about limits over time, money and load. Such a limit may
// be in tokens, too.
var rated = lazyregexp.All(
	`rate[ -]?limit|\btoken rate\b|throttl|slow down|overloaded|too many concurrent|too many requests`,
	`tokens?[ /]+(?:per[ /]+)?`+period+`\b|\bper[ -]`+period+
		`\b|\b(?:this|each|every) minute|\b(?:daily|hourly|weekly|monthly|today)\b|\byour per \w+ limit`,
	`\b[rt]p[mds]\b|\b[io]tpm\b`,
	`\btry again in \d|\bretry (?:after|in)\b|please wait`,
	`\bquota|\bcredits?\b|\bbilling\b|\bbalance\b|\bafford\b|insufficient funds|payment|paid account|usage limit|spend(?:ing)? limit`,
	`over budget|exceeded budget|max budget|budget has been`,
	`\b(?:error|status|code|http)\b[ :=a-z]{0,16}\b(?:402|429)\b|^(?:402|429)\b`,
	`频率|限流|并发|频繁|速率|余额|欠费|额度|配额|每分钟`,
)

// others matches texts about a single part of the request that is too large.
var others = lazyregexp.All(
	`(?:string|array|list|object)s? (?:\w+ )?(?:too long|too large|above max)|(?:string|array) above max`,
	`\btoo many (?:\w+ )?(?:`+media+
		`|tools?|functions?|messages|items|stop|parameters|schemas?|properties|inputs|turns|choices|blocks)\b`,
	`(?:maximum|max|exceed\w* the|large|high) number of (?:\w+ )?`+things,
	`\bnumber of (?:\w+ )?`+things+`(?: \w+){0,2} (?:exceed|must|should|can ?not|too|limit)`,
	`deadline|timed? ?out\b|(?:took|taking|takes) too long|context cancell?ed`,
	`\btokens? per (?:request|batch)|\b(?:per|each|your|submitted|the) batch\b|\bbatch size (?:is invalid|exceed)|\bstop (?:sequence|word)`,
	`\b(?:greater than|more than|at least|>=?) (?:0|1|zero|one)\b(?: tokens?)?$|positive (?:integer|number)|must be positive|be an? (?:valid )?(?:integer|number)`,
	`too small\b.{0,30}\bmin`,
	`\btoken ids?\b|logit|\bsafety\b|\brisk|\bpolic(?:y|ies)\b|moderation|flagged`,
	`图片|图像|文件|音频|视频|次数|超时`,
)

// pictures matches texts about a single image or file.
var pictures = lazyregexp.All(
	`\b`+media+`(?: \w+){0,6}? (?:exceed|too (?:large|big|long|many)|(?:larg|great|long)er than|more than|over )`,
	`\b`+media+`\b.*\b(?:`+unit+`|pixels?|px|pages|seconds|dimensions?|resolution)\b`,
)

const (
	period = `(?:min|minute|day|hour|second)`
	things = `(?:messages|tools?|functions|images?|files?|documents?|turns|items|inputs|stop|choices|blocks|parameters|requests|texts)\b`
	media  = `(?:image|media|file|audio|video|pdf|attachment|upload|photo|picture|screenshot|base64)s?`
	unit   = `\d+(?:\.\d+)? ?(?:bytes?|[kmg]i?b)|bytes|megabytes`
)

var (
	// matches limits of the model's output, entry matches limits of its input
	output = lazyregexp.New(`\bmax(?:imum)? (?:completion |output |new |generated |response )?tokens?\b|\b(?:output|completion|response|budget|min) tokens?\b|tokens you requested|\bmax output|thinking budget|output (?:limit|length)`)
	entry  = lazyregexp.New(`\bprompts?\b|\binputs?\b|\bmessages?\b|conversation|history|context limit|you requested (?:about |a total of )?~?\d|max(?:imum)? tokens (?:of|limit of) \d+ (?:was |is )?exceeded|tokens in (?:the |your )?request|got -\d`)
	sized  = lazyregexp.New(`\b(?:` + unit + `)\b`)
	tokens = lazyregexp.New(`\btokens?\b|\bcontext\b`)
)

// subject returns the topic of a folded text.
func subject(t string) topic {
	counted := tokens.MatchString(t)
	switch {
	case output.MatchString(t) && !entry.MatchString(t):
		return aboutOther
	case matches(others, t) && !(counted && matches(rules[:1], t)), !counted && matches(pictures, t):
		return aboutOther
	case !counted && matches(byteRules, t) && (sized.MatchString(t) || !entry.MatchString(t)):
		return aboutBytes
	case !counted && sized.MatchString(t):
		return aboutOther
	case matches(rules, t):
		return aboutWindow
	}
	return aboutNothing
}

func matches(table []*lazyregexp.Regexp, t string) bool {
	for _, r := range table {
		if r.MatchString(t) {
			return true
		}
	}
	return false
}
