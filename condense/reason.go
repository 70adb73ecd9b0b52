package condense

import (
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
)

// ErrorName returns Roo Code's name for the reason of a failed condensation: "condense_failed" for
// a reason that Roo Code does not know; "" for "".
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
	case policy.ReasonGrew:
		return "condense_context_grew"
	}
	return "condense_failed"
}

// modelRungs are the names of the rungs that have a model write a summary.
var modelRungs = []string{Full{}.Name(), Selective{}.Name()}

// Failure names why a condensation failed: the error of the run, else the first summary of a
// model that failed or was refused. "" on success, and when the client has left.
func Failure(steps []precis.RungResult, err error) string {
	if code := precis.CodeOf(err); code != "" && code != precis.CodeCanceled {
		return string(code)
	}
	for _, s := range steps {
		if (s.Outcome == precis.OutcomeFailed || s.Outcome == precis.OutcomeRefused) &&
			slices.Contains(modelRungs, s.Rung) {
			return ErrorName(s.Code)
		}
	}
	return ""
}

// The reasons for a condensation with a model to fail.
const (
	ReasonTooFewMessages precis.Reason = "too_few_messages" // no messages to condense
	// too few messages are new since the last one
	ReasonCondensedRecently precis.Reason = "condensed_recently"
	ReasonNoSummarizer      precis.Reason = "summarizer_invalid" // no working one is configured
	// the API or the connection failed, retries included
	ReasonCallFailed    precis.Reason = "call_failed"
	ReasonEmpty         precis.Reason = "empty"               // the answer has no text
	ReasonRefused       precis.Reason = "refused"             // the model declined
	ReasonToolCall      precis.Reason = "tool_call"           // it called a tool instead
	ReasonReasoningOnly precis.Reason = "reasoning_only"      // the answer has only reasoning
	ReasonMarkup        precis.Reason = "markup"              // the answer's form is not a summary
	ReasonTooLarge      precis.Reason = "too_large"           // the summary is longer than allowed
	ReasonTruncated     precis.Reason = "truncated"           // the output limit cut it off
	ReasonRepeats       precis.Reason = "repeats"             // it repeats itself
	ReasonSections      precis.Reason = "missing_sections"    // required sections are missing
	ReasonNoProgress    precis.Reason = "no_progress"         // it would save too little
	ReasonTooLong       precis.Reason = "summarizer_overflow" // the messages do not fit, even in parts
	ReasonBreaker       precis.Reason = "breaker"             // the model failed too often recently
	ReasonVetoed                      = policy.ReasonVetoed   // a hook refused
)
