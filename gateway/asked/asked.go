package asked

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"precis"
	"precis/conversation"
	"precis/gateway/tool"
	"precis/internal/content"
	"precis/internal/jsonspan"
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

// Input is what a call asks for.
type Input struct {
	Focus string // what a summary should pay attention to; may be empty
}

// ReadInput reads what a call asks for; no input at all is the zero value. Problem
// says, for the model, why it cannot be read; "" when it can.
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

// How much of what is not shown any more an answer names, so that it has some hundred
// tokens whatever the conversation is.
const (
	mostLost  = 5
	mostBytes = 100 // of one fact, or of a sentence
)

// Done returns what the model is answered when a run was made: what it did, or why it did
// nothing. Report is that of the run, with what was retained; outlook that of the view
// as it is now. Reader is the name of a tool by which hidden messages are read, "" for
// none.
func Done(report precis.Report, outlook conversation.Outlook, reader string) tool.Result {
	var out strings.Builder
	if len(report.Edits) == 0 {
		fmt.Fprintf(&out, "Nothing was done: %s. The context has %d tokens, %s. Go on with the work.",
			content.FirstLine(strings.TrimPrefix(report.Outcome, "left alone: "), 2*mostBytes), report.Before.Tokens, left(outlook))
		return tool.Result{Text: out.String()}
	}
	fmt.Fprintf(&out, "Condensed from %d to %d tokens: %s.", report.Before.Tokens, report.After.Tokens, left(outlook))
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

// left says how full the window is, and for how long there is room.
func left(o conversation.Outlook) string {
	text := fmt.Sprintf("%.0f %% of the window is used", o.Percent)
	if n := o.Room.Lasts; n != nil {
		text += fmt.Sprintf(", about %d turns are left", *n)
	}
	return text
}

// lost names the rules and facts that are not shown any more, the most important ones.
func lost(r *precis.Retention) string {
	var out strings.Builder
	n := 0
	for _, list := range [][]precis.LostAnchor{r.RulesLost, r.Lost} {
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

// Failed returns what the model is answered when nothing could be done.
func Failed(err error) tool.Result {
	var e *precis.Error
	why := "an error of the gateway"
	if errors.As(err, &e) {
		why = e.Error()
		if e.Hint != "" {
			why += "; " + e.Hint
		}
	}
	return tool.Result{Text: "The conversation was not condensed: " + content.FirstLine(why, 3*mostBytes) + ". Nothing was changed. Go on without it.", Failed: true}
}
