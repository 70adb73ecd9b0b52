// Package window determines the assumed context window of a model from all evidence about it. Use
// [Known.Window]: no other code decides how large a window is.
//
// The sources may disagree: the user sets a window, the catalog has a number, the server that runs
// the model states its own, an error states a limit or only that a request was too long, and an
// answer proves that a request fit. Each of these is evidence with a time. Evidence against a
// larger window expires, so that a larger one is tried now and then; a larger request that is
// answered disproves it at once.
//
// All functions are pure: no clock, no locks.
package window

import (
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/models"
)

// Smaller numbers are not plausible windows, in tokens.
const (
	leastStated  = 1000 // every API accepts more
	leastRefused = 4000 // an error without a number is weak evidence
)

// belowRefused is the share of a refused size that is assumed to fit.
const belowRefused = 0.97

// How long evidence against a larger window holds. Each confirmation doubles the time, up to
// longestHold.
const (
	statedHold  = time.Hour
	refusedHold = 10 * time.Minute
	longestHold = 24 * time.Hour
	// pendingHold is how long a refusal without sufficient evidence waits for confirmation.
	pendingHold = time.Hour
	// doubtHold is how long a limit without a number is doubted, because an upstream in trouble may
	// refuse anything for a while. Meanwhile reductions due to it are not recorded, and larger
	// requests are tried now and then: after firstTrial smaller ones were answered, then after
	// twice as many each time.
	doubtHold  = 10 * time.Minute
	firstTrial = 2
	// samePlace: two limits that differ by less than this share confirm each other.
	samePlace = 0.1
)

// Limit is an upper bound derived from an error. The zero value is no limit.
type Limit struct {
	Tokens int       `json:"tokens"`
	Time   time.Time `json:"time"`  // when it was last confirmed
	Times  int       `json:"times"` // number of reports
	// Since is when a limit without a number was first reported; zero for other limits, and if a
	// person saw the error.
	Since time.Time `json:"since,omitzero"`
	Quiet int       `json:"quiet,omitempty"` // requests answered since Time, while it is doubted
	Tried int       `json:"tried,omitempty"` // larger requests that were tried and refused
}

// holdDuration returns how long the limit holds, starting with first.
func (l Limit) holdDuration(first time.Duration) time.Duration {
	for n := 1; n < l.Times && first < longestHold; n++ {
		first *= 2
	}
	return min(first, longestHold)
}

func (l Limit) holds(now time.Time, first time.Duration) bool {
	return l.Tokens > 0 && now.Sub(l.Time) < l.holdDuration(first)
}

// afterReport returns the limit after another report, at now.
func (l Limit) afterReport(tokens int, now time.Time) Limit {
	out := Limit{Tokens: tokens, Time: now, Times: 1}
	if isNear(l.Tokens, tokens) {
		out.Times, out.Since, out.Tried = l.Times+1, l.Since, l.Tried
	}
	return out
}

// isDoubted reports whether the limit may be an error of an upstream in trouble.
func (l Limit) isDoubted(now time.Time) bool {
	return l.Tokens > 0 && !l.Since.IsZero() && now.Sub(l.Since) < doubtHold
}

// isTried reports whether to try a larger request although the limit holds.
func (l Limit) isTried(now time.Time) bool {
	return l.isDoubted(now) && l.Quiet >= firstTrial<<min(l.Tried, 10)
}

func isNear(a, b int) bool {
	return a > 0 && b > 0 && float64(max(a, b)-min(a, b)) <= samePlace*float64(max(a, b))
}

// Evidence is the evidence from requests on one window: one model at one upstream, for one account.
// The zero value is no evidence. Values are immutable; methods return new ones.
type Evidence struct {
	Stated          Limit // a limit that an error stated
	Refused         Limit // below a request that was refused without a number, with sufficient evidence
	pending         Limit // the same without sufficient evidence; Tokens is the smallest request refused
	largestAnswered int   // the largest request answered since pending, by our count
	Accepted        Size  // the largest answered request
}

// Size is the size of an answered request. The zero value is no request.
type Size struct {
	Tokens  int       `json:"tokens"`  // input as the provider counted it
	Counted int       `json:"counted"` // our count
	Time    time.Time `json:"time"`
}

// Overflow is a refusal of a request as too long.
type Overflow struct {
	Limit   int  // as the error states it, in tokens; 0: not stated
	Used    int  // the size of the request as the error states it; 0: not stated
	Counted int  // the size of the request by our count
	Known   int  // the window that the request was made for, in tokens
	Seen    bool // the client saw the error after text of an answer, so it is not retried
}

// Odd reports whether a single refusal is insufficient evidence: it has no number, or a number far
// above the request.
func (o Overflow) Odd() bool { return o.Limit < leastStated || o.isFar() }

// Ceiling returns the most tokens to try after the refusal of a request that was made smaller so
// many times before; 0: the evidence decides.
func (o Overflow) Ceiling(retries int) int {
	if o.Limit > 0 || retries == 0 { // a slightly smaller request may be enough
		return o.Limit
	}
	return o.Counted * (100 - 25*retries/2) / 100
}

// isFar reports whether the request was far below the limit that the error states.
func (o Overflow) isFar() bool { return o.Limit > o.Known && max(o.Counted, o.Used) < o.Limit/2 }

// Refuse returns the evidence after a request was refused as too long.
func (e Evidence) Refuse(o Overflow, now time.Time) Evidence {
	if o.isFar() {
		return e // the request was well below: it was refused for another reason
	}
	if o.Limit >= leastStated {
		e.Stated = e.Stated.afterReport(o.Limit, now)
		if e.Accepted.Tokens > o.Limit {
			e.Accepted = Size{} // the window has become smaller since
		}
		return e
	}
	if o.Limit > 0 {
		return e
	}
	return e.refuseUnstated(o, now)
}

// refuseUnstated returns the evidence after a refusal that states no limit.
func (e Evidence) refuseUnstated(o Overflow, now time.Time) Evidence {
	below := int(float64(max(o.Counted, o.Used)) * belowRefused)
	if below < leastRefused {
		return e
	}
	once := now.Sub(e.pending.Time) < pendingHold && e.pending.Tokens > 0
	confirmed := once && e.largestAnswered > 0 && o.Counted > e.largestAnswered
	was := e.Refused
	again := was.Tokens > 0 && o.Counted > was.Tokens && now.Sub(was.Time) < 2*was.holdDuration(refusedHold)
	if confirmed || again || o.Seen {
		since := now
		if once {
			below, since = min(below, int(float64(e.pending.Tokens)*belowRefused)), e.pending.Since
		}
		if again {
			below = min(below, was.Tokens)
		}
		below = max(below, e.largestAnswered)
		e.Refused = was.afterReport(below, now)
		if was.isDoubted(now) && isNear(was.Tokens, below) { // the result of a trial must not extend it
			e.Refused.Times = was.Times
		}
		if again && was.isTried(now) {
			e.Refused.Tried = was.Tried + 1
		}
		if !was.holds(now, refusedHold) || !isNear(was.Tokens, below) {
			e.Refused.Since = since
		}
		if o.Seen {
			e.Refused.Since = time.Time{}
		}
		e.pending, e.largestAnswered = Limit{}, 0
		if e.Accepted.Tokens > below {
			e.Accepted = Size{}
		}
		return e
	}
	if !once {
		e.largestAnswered, e.pending.Since = 0, now
	}
	if !once || o.Counted < e.pending.Tokens {
		e.pending.Tokens = o.Counted
	}
	e.pending.Time, e.pending.Times = now, e.pending.Times+1
	return e
}

// mostOver is how far the provider's count of an input may plausibly exceed ours: some providers
// add up the inputs of several steps.
const mostOver = 1.5

// Accept returns the evidence after a request was answered: input is the provider's count of its
// tokens, 0 if not stated, counted is our count. It disproves smaller limits.
func (e Evidence) Accept(input, counted int, now time.Time) Evidence {
	size := counted
	if input > 0 {
		size = min(input, counted)
	}
	if float64(input) > mostOver*float64(counted) {
		input = 0 // it covers more than one request
	}
	if input > e.Accepted.Tokens {
		e.Accepted = Size{Tokens: input, Counted: counted, Time: now}
	} else if input > 0 && isNear(input, e.Accepted.Tokens) {
		e.Accepted.Time = now
	}
	if input > e.Stated.Tokens {
		e.Stated = Limit{}
	}
	switch {
	case size > e.Refused.Tokens:
		e.Refused = Limit{}
	case e.Refused.isDoubted(now):
		e.Refused.Quiet++
	}
	switch {
	case e.pending.Tokens == 0:
	case counted >= e.pending.Tokens: // it was refused for another reason
		e.pending, e.largestAnswered = Limit{}, 0
	default:
		e.largestAnswered = max(e.largestAnswered, counted)
	}
	return e
}

// Idle reports whether the evidence can be deleted without loss: all limits have expired twice
// over.
func (e Evidence) Idle(now time.Time) bool {
	old := func(l Limit) bool { return l.Tokens == 0 || now.Sub(l.Time) > 2*longestHold }
	return old(e.Stated) && old(e.Refused) && old(e.pending) && now.Sub(e.Accepted.Time) > 2*longestHold
}

// Served is a server's statement of the window of a model. The zero value means that it was not
// asked.
type Served struct {
	Tokens int       `json:"tokens,omitempty"` // 0: not stated
	Detail string    `json:"detail,omitempty"` // where it is stated, or why not
	Since  time.Time `json:"since,omitzero"`   // when this number was stated first
	Asked  time.Time `json:"asked,omitzero"`   // when the server was last asked
	Fault  Fault     `json:"fault,omitempty"`  // why Tokens is 0
}

// Fault is the reason why a server states no window.
type Fault int

// The faults.
const (
	Silent  Fault = iota // it has no such statement
	Refusal              // it refuses these credentials
	Failing              // it could not be reached, or failed
	Loading              // the model is not loaded yet
)

// How soon a server is asked again.
const (
	askedHold   = 24 * time.Hour
	refusalHold = 10 * time.Minute
	failingHold = 10 * time.Minute
	loadingHold = time.Minute
)

// NeedsQuery reports whether the server should be asked.
func (s Served) NeedsQuery(now time.Time) bool {
	hold := askedHold
	if s.Tokens == 0 {
		hold = []time.Duration{askedHold, refusalHold, failingHold, loadingHold}[max(Silent,
			min(s.Fault, Loading))]
	}
	return s.Asked.IsZero() || now.Sub(s.Asked) >= hold
}

// After returns the state after the server was asked again. A number once stated stays if the
// server cannot be asked.
func (s Served) After(answer Served) Served {
	if answer.Tokens == 0 && answer.Fault != Silent && s.Tokens > 0 {
		s.Asked = answer.Asked
		return s
	}
	if answer.Tokens == s.Tokens {
		answer.Since = s.Since
	}
	return answer
}

// Known is what the caller knows about the window of a model. Zero values are unknown.
//
// A gateway fills in everything but Recorded; its Table is [gateway.Options.Window], which answers
// from the configuration and the catalog of models, again by a Known. Commands that read recordings
// know no server.
type Known struct {
	Set      int                              // tokens, set by the user, a profile or the request
	By       string                           // who set them, for display
	Recorded int                              // tokens, by the program that recorded the conversation
	Model    string                           // for Table
	Table    func(model string) precis.Window // nil: every model has [models.DefaultWindow]
	Served   Served
	Evidence Evidence
	Upstream string // the API that Served and Evidence are about, for display
	// Ceiling limits the window of one request that was refused, in tokens. The request must be
	// answered, whatever the evidence says.
	Ceiling int
	Now     time.Time
}

// Window returns the assumed window.
//
// A user's setting, also one in Table, takes precedence over everything but Ceiling. The server's
// own number takes precedence over the recorded one and the table, whether larger or smaller; so
// does a limit that an error stated. Of these two, the newer one counts if the server's number has
// changed since; else the limit, because it concerns this account. Limits that lower the window
// expire, see [Limit]. An answered request proves at least its size.
func (k Known) Window() precis.Window {
	w := k.lasting()
	if k.Ceiling > 0 && k.Ceiling < w.Tokens {
		return learned(k.Ceiling, "an error of "+k.Upstream+", for this request")
	}
	return w
}

// base returns the window without what a server or a request has shown.
func (k Known) base() precis.Window {
	if k.Set > 0 {
		return precis.Window{Tokens: k.Set, Source: precis.SourceConfigured, Detail: k.By}
	}
	w := precis.Window{Tokens: models.DefaultWindow, Source: precis.SourceAssumed}
	if k.Table != nil {
		w = k.Table(k.Model)
	}
	if k.Recorded > 0 && w.Source != precis.SourceConfigured {
		w = precis.Window{Tokens: k.Recorded, Source: precis.SourceRecorded}
	}
	return w
}

// lasting returns the window of later requests, too.
func (k Known) lasting() precis.Window {
	out := k.base()
	if out.Source == precis.SourceConfigured {
		return out
	}
	s, e, upstream, now := k.Served, k.Evidence, k.Upstream, k.Now
	switch {
	case s.Tokens > 0:
		out = precis.Window{Tokens: s.Tokens, Source: precis.SourceServer, Detail: s.Detail}
	case s.Detail != "":
		out.Detail = joined(out.Detail, s.Detail)
	}
	if l := e.Stated; l.Tokens > 0 && !(s.Tokens > 0 && s.Since.After(l.Time)) {
		if l.Tokens > out.Tokens || l.holds(now, statedHold) {
			out = learned(l.Tokens, "an error of "+upstream)
		}
	}
	if l := e.Refused; l.Tokens < out.Tokens && l.holds(now, refusedHold) && !l.isTried(now) &&
		!(s.Tokens > 0 && s.Since.After(l.Time)) {
		out = learned(l.Tokens, "requests that "+upstream+" refused without a number")
	}
	if a := e.Accepted; a.Tokens > out.Tokens && !(s.Tokens > 0 && s.Since.After(a.Time)) {
		out = learned(a.Tokens, "a request of this size that "+upstream+" answered")
	}
	return out
}

// Doubted reports whether the window derives from refusals without a number that may be errors of
// an upstream in trouble. Reductions for it should not be recorded.
func (k Known) Doubted() bool { return k.isDoubted(k.lasting()) }

func (k Known) isDoubted(lasting precis.Window) bool {
	refused := k.Evidence.Refused
	return lasting.Source == precis.SourceLearned && lasting.Tokens == refused.Tokens &&
		refused.isDoubted(k.Now)
}

// Uncertain reports whether a refusal, recorded in k, is a reason to send a smaller request once,
// and not yet to record a smaller view: it is insufficient evidence, and either did not make the
// window smaller or made it a doubted one.
func (k Known) Uncertain(o Overflow) bool {
	now := k.lasting()
	return o.Odd() && now.Source != precis.SourceConfigured && (now.Tokens >= o.Known || k.isDoubted(now))
}

func learned(tokens int, from string) precis.Window {
	return precis.Window{Tokens: tokens, Source: precis.SourceLearned, Detail: from}
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
