package digest

import (
	"precis/internal/lazyregexp"
	"precis/internal/toolcall"
)

// denies is how a sentence says that checks do not hold.
var denies = lazyregexp.New(`(?i)\b(?:not|n't|never|no longer|fails?|failed|failing|until|unless|if|once|should|must|make sure|nicht|bis|wenn|pas|si|jusqu|no|hasta)\b|(?:^|\s)(?:не|если)\s|不|没|未|ない|ません|ば|않|못`)

// checking are words in the kind of a command whose outcome such a sentence is about.
var checking = runPattern{lazyregexp.New(`test|\bspecs?\b|rspec|jest|mocha|check(?:[^o]|$)|build|lint|\bvet\b|\btsc\b|compile|make|\bci\b|verify|\b[nt]ox\b|ruff|mypy|pyright`)}

// checks reports whether a command is run to see whether the work is right.
func checks(p toolcall.Purpose) bool {
	return checking.MatchString(p.Kind) || checking.MatchString(p.Key)
}
