package gateway

// Headers of requests, for the gateway alone.
const (
	headerBypass  = "X-Precis-Bypass"       // "true": pass this request through
	headerProfile = "X-Precis-Profile"      // the profile to use
	headerFocus   = "X-Precis-Focus"        // what a summary should pay attention to
	headerConv    = "X-Precis-Conversation" // in requests: a name to find it by; in responses: its ID
)

// Headers of responses.
const (
	headerAction   = "X-Precis-Action"        // what was done
	headerBefore   = "X-Precis-Tokens-Before" // of what the client sent
	headerAfter    = "X-Precis-Tokens-After"  // of what was forwarded
	headerWindow   = "X-Precis-Window"        // tokens, and where the number comes from
	headerOverhead = "X-Precis-Overhead-Ms"   // spent before the request was forwarded
	headerMatch    = "X-Precis-Match"         // how the conversation was recognized
	headerNode     = "X-Precis-Node"          // where this request ends
	headerParent   = "X-Precis-Parent"        // where the request ended that it continues
	headerRetries  = "X-Precis-Retries"       // after overflows
	headerError    = "X-Precis-Error"         // the code, when the error is the gateway's own
)

// Actions, as headers and metrics name them.
const (
	actionNone    = "none"    // forwarded as it came
	actionView    = "view"    // forwarded with edits made earlier
	actionReduced = "reduced" // reduced for this request
	actionPass    = "pass"    // passed through: no turn of a conversation
	actionBypass  = "bypass"  // passed through on request
	actionOpen    = "open"    // passed through: precis failed
	actionAnswer  = "answer"  // answered by the gateway itself
)
