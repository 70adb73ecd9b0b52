package overflow

import (
	"strconv"
	"strings"

	"github.com/precis-dev/precis/internal/lazyregexp"
)

const (
	number = `[ :=(<]+~?(\d+)\b` // after a word
	kind   = `(?:text|tool|image|audio|video)`
	// over connects the used number and the limit
	over = `(?:[<>]=?|exceed\w*|(?:long|larg|great|bigg|high)er than|more than|too large for|less than|but (?:the )?(?:\w+ )?(?:models?|max|limit|context)|while (?:the )?limit|超过|超出|大于)`
)

// unlimited are numbers that are neither the input's nor the window's: the
// status, the excess, the requested output, a minimum.
var unlimited = lazyregexp.All(
	`(?:^|\b(?:error|code|status|http)\b)[ :=]*[45]\d\d\b`,
	`\bby (?:about |at least )?~?\d+`,
	`\band \d+ draft tokens`,
	`\bat least [01]\b`,
	`\bmax (?:completion |new |output )?tokens(?: is too large)?[:=] ?\d+`,
	`\bgenerat(?:ion length|ing) \d+|requires a sequence length of \d+`,
	`\(2013\)`, // the code of MiniMax
	`\b\d+ (?:output|completion|max new) tokens`,
	`(?:\+|\band|\bplus) (?:the )?(?:max (?:completion |new |output )?tokens|completion|output)[ :=(]{1,3}\d+`,
)

// before matches a number that is compared with a limit, so it is not the limit
// itself.
var before = lazyregexp.New(`\d+(?: tokens?)?\)? ?(?:(?:is|are|would) )?(?:>=?|exceeds?\b|(?:long|larg|great|bigg|high)er than|more than|too large)`)

// limits find the limit, and uses the tokens used, the most certain pattern
// first.
var (
	limits = lazyregexp.All(
		`\binput length should be \[\d+, ?(\d+)`,
		`#+ ?> ?(\d+)\b(?: max|[,)]|$)`,
		`\d+ ?(?:of|out of|/) ?(\d+) tokens`,
		`\bmax(?:imum)?(?: [\w/]+){0,4}? (?:is|of)(?: only| just)?`+number,
		`(?:\d|#)[^.\d]{0,60}?`+over+`[^.\d]{0,80}?\b(\d+)\b`,
		`\bmax(?:imum)?(?: [\w/]+){0,5}?`+number,
		window+`(?: \w+){0,4}?`+number,
		`\b(?:limit|budget|less than|fewer than|at most|no more than|up to|<=|(?:can)?not exceed|最大|上限)(?: \w+){0,5}?`+number,
		`\b(\d+)[ -](?:tokens? )?(?:max(?:imum)?|limit|context)\b`,
		`(?:最大|上限|限制)[^.\d]{0,12}(\d+)`,
	)
	uses = lazyregexp.All(
		`\b(\d+) \+ \d+ ?>`,
		`\b(\d+) ?(?:of|out of|/) ?#`,
		`\b(\d+)\b[^.\d]{0,60}?`+over+`[^.\d]{0,60}?#`,
		`\b(?:requested|resulted in|received|given|got|provided|contains|used)(?: [a-z]\w*){0,4}?`+number,
		`\b(?:prompt|inputs?|messages?|request|sequence|conversation|tokens?|length|count|context|keep|first)(?:[ (]+[a-z]\w*){0,4}?`+number,
		`\(~?(\d+) tokens?\)`,
		`(?:输入|长度|当前|请求)[^.\d]{0,12}(\d+)`,
	)
)

// share is a part of the input in a sum, such as "13069 in the messages".
var share = lazyregexp.New(`(including )?\b(\d+) (?:tokens? )?(?:(?:in|of|from|for) (?:the |your )?(?:` +
	kind + ` )?(?:messages|prompt|inputs?|functions?|tools?)|(?:` + kind + ` )?inputs?|prompt tokens)\b`)

// characters matches limits in characters, which cannot be converted into
// tokens.
var characters = lazyregexp.New(`\d char(?:acter)?s?\b|(?:input|max|maximum) char(?:acter)?s\b|字符|字数|expected max length|length of (?:the )?(?:current )?question`)

// count sets the numbers that are not known yet from a folded text.
func (o *Overflow) count(t string) {
	if characters.MatchString(t) {
		return
	}
	for _, r := range unlimited {
		t = mask(t, r.FindAllStringIndex(t, -1)...)
	}
	limit, span := find(limits, mask(t, before.FindAllStringIndex(t, -1)...))
	if span != nil {
		t = mask(t, span)
	}
	if o.Limit == 0 {
		o.Limit = limit
	}
	if o.Used != 0 {
		return
	}
	if o.Used = shares(t); o.Used == 0 {
		o.Used, _ = find(uses, t)
	}
}

// mask hides the digits of spans, so that no number is read twice.
func mask(t string, spans ...[]int) string {
	b := []byte(t)
	for _, s := range spans {
		for i := s[0]; i < s[1]; i++ {
			if b[i] >= '0' && b[i] <= '9' {
				b[i] = '#'
			}
		}
	}
	return string(b)
}

// find returns the first plausible number that a table matches, and its
// position.
func find(table []*lazyregexp.Regexp, t string) (int, []int) {
	for _, r := range table {
		for _, m := range r.FindAllStringSubmatchIndex(t, -1) {
			n, err := strconv.Atoi(t[m[2]:m[3]])
			if err == nil && plausible(n) {
				return n, m[2:4]
			}
		}
	}
	return 0, nil
}

// shares adds up the parts of the input where a text lists them side by side.
func shares(t string) int {
	sum, end := 0, -1
	for _, m := range share.FindAllStringSubmatchIndex(t, -1) {
		if m[2] >= 0 || sum > 0 && (m[0]-end > 12 || strings.ContainsAny(t[end:m[0]], ".()")) {
			continue
		}
		if n, err := strconv.Atoi(t[m[4]:m[5]]); err == nil && plausible(n) {
			sum, end = sum+n, m[1]
		}
	}
	return sum
}

// plausible reports whether n can be a number of tokens.
func plausible(n int) bool { return n > 0 && n <= 200_000_000 }
