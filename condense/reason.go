package condense

import "precis"

// ErrorName returns the name that Roo Code gives to a condensation that fails for a
// reason. Reasons that it does not know are "condense_failed"; "" has none.
func ErrorName(r precis.Reason) string {
	switch r {
	case "":
		return ""
	case ReasonTooFewMessages:
		return "condense_not_enough_messages"
	case ReasonCondensedRecently:
		return "condensed_recently"
	case ReasonNoSummarizer:
		return "condense_handler_invalid"
	case ReasonCallFailed, ReasonTooLong:
		return "condense_api_failed"
	case precis.ReasonGrew:
		return "condense_context_grew"
	}
	return "condense_failed"
}

// The reasons for which a condensation with a model does not happen.
const (
	ReasonTooFewMessages    precis.Reason = "too_few_messages"    // there is nothing to condense
	ReasonCondensedRecently precis.Reason = "condensed_recently"  // too few messages are new since the last one
	ReasonNoSummarizer      precis.Reason = "summarizer_invalid"  // none that works is configured
	ReasonCallFailed        precis.Reason = "call_failed"         // the API or the connection failed, retries included
	ReasonEmpty             precis.Reason = "empty"               // the model said nothing
	ReasonRefused           precis.Reason = "refused"             // the model would not
	ReasonToolCall          precis.Reason = "tool_call"           // it called a tool instead
	ReasonReasoningOnly     precis.Reason = "reasoning_only"      // it thought and said nothing
	ReasonMarkup            precis.Reason = "markup"              // it answered in a form that is no summary
	ReasonTooLarge          precis.Reason = "too_large"           // the summary is longer than allowed
	ReasonTruncated         precis.Reason = "truncated"           // it ended in the middle, at the output limit
	ReasonRepeats           precis.Reason = "repeats"             // it says the same over and over
	ReasonSections          precis.Reason = "missing_sections"    // parts that were asked for are missing
	ReasonNoProgress        precis.Reason = "no_progress"         // it would save too little
	ReasonTooLong           precis.Reason = "summarizer_overflow" // what is to be summarized fits in no part
	ReasonBreaker           precis.Reason = "breaker"             // the model failed too often a short time ago
	ReasonVetoed                          = precis.ReasonVetoed   // a hook said no
)
