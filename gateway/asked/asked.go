package asked

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway/tool"
	"github.com/precis-dev/precis/internal/content"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/policy"
)

// Name is the name of the tool.
const Name = "precis_condense"

const description = "Condenses the older part of this conversation now, so that you have room for what comes. " +
	"The user's rules and last request and the newest messages stay as they are; the rest is shown shortened, and nothing is deleted. " +
	"Without it this happens by itself when the context window is nearly full, perhaps in the middle of a task. " +
	"Call it alone, with no other tool, when a piece of work is finished and its details are not needed any more. " +
	"It does nothing while there is ample room; the answer says what was done."

const schema = `{"type":"object","properties":{` +
	`"focus":{"type":"string","description":"What a summary should keep in more detail"}}}`

// Tool returns the definition of the tool.
func Tool() tool.Tool { return tool.Tool{Name: Name, Description: description, Schema: schema} }

// Input is the input of a call.
type Input struct {
	Focus string // topic that a summary should focus on; may be empty
}

// ReadInput reads the input of a call; a missing input gives the zero value. Problem is an error
// text for the model; "" on success.
func ReadInput(raw json.RawMessage) (in Input, problem string) {
	if len(raw) == 0 {
		return in, ""
	}
	fields, err := jsonspan.Fields(raw)
	if err != nil {
		return in, `The input is no JSON object; it must be {} or {"focus":"words"}.`
	}
	if focus := fields["focus"]; focus != nil && jsonspan.Kind(focus) != 'n' {
		text, ok := jsonspan.String(focus)
		if !ok {
			return in, `The focus is no text; the input must be {} or {"focus":"words"}.`
		}
		in.Focus = strings.TrimSpace(text)
	}
	return in, ""
}

// How many lost items an answer lists, so that it has some hundred tokens for any conversation.
const (
	mostLost  = 5
	mostBytes = 100 // of one fact, or of a sentence
)

// Done returns the answer to a call after a run: its result, or why it changed no message. Report
// is the report of the run, with its retention; outlook describes the present view. Reader is the
// name of the tool for reading hidden messages, "" if there is no such tool.
func Done(report policy.Report, outlook conversation.Outlook, reader string) tool.Result {
	var out strings.Builder
	if len(report.Edits) == 0 {
		fmt.Fprintf(&out, "Nothing was done: %s. The context has %d tokens, %s. Go on with the work.",
			content.FirstLine(strings.TrimPrefix(report.Outcome, "left alone: "), 2*mostBytes),
			report.Before.Tokens, left(outlook))
		return tool.Result{Text: out.String()}
	}
	fmt.Fprintf(&out, "Condensed from %d to %d tokens: %s.", report.Before.Tokens, report.After.Tokens,
		left(outlook))
	if r := report.Retention; r != nil {
		if r.Anchors > 0 {
			fmt.Fprintf(&out, " Of %d facts likely to be needed again %d are still shown.", r.Anchors, r.Kept)
		}
		out.WriteString(lost(r))
	}
	if reader != "" {
		fmt.Fprintf(&out, "\nWhat is hidden can be read by %s.", reader)
	}
	return tool.Result{Text: out.String()}
}

// left describes how full the window is, and for how long there is room.
func left(o conversation.Outlook) string {
	text := fmt.Sprintf("%.0f %% of the window is used", o.Percent)
	if n := o.Room.TurnsLeft; n != nil {
		text += fmt.Sprintf(", about %d turns are left", *n)
	}
	return text
}

// lost lists rules and facts that are no longer shown, the most important ones first.
func lost(r *policy.Retention) string {
	var out strings.Builder
	n := 0
	for _, list := range [][]policy.LostAnchor{r.RulesLost, r.Lost} {
		for _, l := range list {
			if n++; n > mostLost {
				continue
			}
			fmt.Fprintf(&out, "\n- %s [%s]", content.FirstLine(l.Text, mostBytes), l.Handle)
		}
	}
	switch {
	case n == 0:
		return ""
	case n > mostLost:
		fmt.Fprintf(&out, "\nand %d more", n-mostLost)
	}
	return " Not shown any more:" + out.String()
}

// Failed returns the answer to a call after an error.
func Failed(err error) tool.Result {
	var e *precis.Error
	why := "an error of the gateway"
	if errors.As(err, &e) {
		why = e.Error()
		if e.Hint != "" {
			why += "; " + e.Hint
		}
	}
	return tool.Result{Text: "The conversation was not condensed: " + content.FirstLine(why, 3*mostBytes) +
		". Nothing was changed. Go on without it.", Failed: true}
}
