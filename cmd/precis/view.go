package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"precis"
	"precis/cmd/internal/term"
	"precis/internal/jsonspan"
	"precis/wire/anthropic"
	"precis/wire/chat"
	"precis/wire/responses"
)

func (a *app) viewCmd() *cobra.Command {
	dialect := anthropic.Format
	cmd := &cobra.Command{
		Use:   "view FILE",
		Short: "Print the messages to send now",
		Long: `Print the messages that would be sent to the model now. Under the threshold
that is the whole conversation; over it, the conversation reduced as the preset
says. Nothing is written. With --json the output is one object:
{"view":{"system":…,"messages":[…]},"report":{…}}.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			appendMessages, ok := dialects[dialect]
			if !ok {
				return precis.Errorf(precis.CodeInvalid, "read flags", "--dialect is %q, want anthropic, chat or responses", dialect)
			}
			j, err := a.open(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			res, err := j.manager.Manage(cmd.Context(), j.request(a))
			if err != nil {
				return err
			}
			if a.opts.json {
				return a.printView(j, res, dialect, appendMessages)
			}
			a.printMessages(j, res)
			return nil
		},
	}
	cmd.Flags().StringVar(&dialect, "dialect", anthropic.Format, "`DIALECT` of the messages: anthropic, chat or responses")
	return cmd
}

// dialects are the encoders of messages.
var dialects = map[string]func([]byte, []precis.Message) []byte{
	anthropic.Format: anthropic.AppendMessages,
	chat.Format:      chat.AppendMessages,
	responses.Format: responses.AppendMessages,
}

func (a *app) printView(j *job, res precis.Result, dialect string, appendMessages func([]byte, []precis.Message) []byte) error {
	report, err := json.Marshal(res.Report)
	if err != nil {
		return precis.Errorf(precis.CodeInternal, "write report", "%w", err)
	}
	out := []byte(`{"view":{"system":`)
	out = append(out, systemJSON(j.conv.System, dialect)...)
	out = appendMessages(append(out, `,"messages":`...), res.View)
	out = append(append(out, `},"report":`...), report...)
	_, err = a.out.Write(append(out, "}\n"...))
	return err
}

// systemJSON writes the system prompt: with its own bytes where the dialect is
// the same, else as a string; null when there is none.
func systemJSON(m precis.Message, dialect string) []byte {
	switch {
	case len(m.Content) == 0:
		return []byte("null")
	case m.Format == dialect && jsonspan.Clean(m.Raw):
		return m.Raw
	}
	return jsonspan.AppendString(nil, m.PlainText())
}

func (a *app) printMessages(j *job, res precis.Result) {
	w := a.term
	w.Title("%s", res.Report.Outcome)
	for i, m := range res.View {
		w.Printf("%s %s\n", w.Style("dim", fmt.Sprintf("%4d", i)), w.Style(string(m.Role), string(m.Role)))
		for _, b := range m.Content {
			w.Printf("     %s\n", describe(b, 110))
		}
	}
	w.Printf("\n")
	a.printReport(j, res.Report)
}

// describe puts a block on one line.
func describe(b precis.Block, width int) string {
	switch b := b.(type) {
	case precis.Text:
		return oneLine(b.Text, width)
	case precis.Thinking:
		return "thinking: " + oneLine(b.Text, width-10)
	case precis.ToolUse:
		return "→ " + b.Name + " " + oneLine(string(b.Input), width-len(b.Name)-3)
	case precis.ToolResult:
		mark := "← "
		if b.IsError {
			mark = "← error: "
		}
		return mark + oneLine(b.Text(), width-len(mark))
	case precis.Image:
		return "[image " + b.MediaType + "]"
	case precis.Document:
		return "[document " + b.Title + " " + b.MediaType + "]"
	case precis.Opaque:
		return "[" + b.Type + "]"
	}
	return "[reasoning]"
}

// printReport prints what a check found and did.
func (a *app) printReport(j *job, r precis.Report) {
	w := a.term
	w.Pairs(
		[2]string{"recording", fmt.Sprintf("%s, %s messages", j.rec.Format, term.Number(j.conv.Transcript.Len()))},
		[2]string{"window", r.Decision.Window.String()},
		[2]string{"before", sizeText(r.Before, r.Decision.Window.Tokens)},
		[2]string{"after", sizeText(r.After, r.Decision.Window.Tokens)},
		[2]string{"decision", fmt.Sprintf("%s — %s", r.Decision.Action, r.Arithmetic)},
		[2]string{"counted", fmt.Sprintf("%s × %.2f", r.Counter, r.Calibration)},
		[2]string{"kept", keptText(r)},
	)
	a.printEdits(r)
	if n := len(r.Repairs); n > 0 {
		w.Printf("  %s the recording was not a valid request; %d places were mended, the first: %s\n", w.Style("warn", "note"), n, r.Repairs[0])
	}
}

func (a *app) printEdits(r precis.Report) {
	if len(r.Edits) == 0 {
		return
	}
	var rows [][]string
	for _, e := range r.Edits {
		rows = append(rows, []string{e.Rung, string(e.Kind), term.Number(e.Saved), e.Reason})
	}
	a.term.Printf("\n")
	a.term.Table([]string{"rung", "edit", "tokens saved", "what"}, []int{2}, rows)
}

func sizeText(s precis.Size, window int) string {
	percent := 100 * float64(s.Tokens) / float64(window)
	return fmt.Sprintf("%s tokens (%.1f %%), %s messages", term.Number(s.Tokens), percent, term.Number(s.Messages))
}

// callPairs tells what models did and cost, and why rungs that call one were not
// used.
func callPairs(r precis.Report) [][2]string {
	var pairs [][2]string
	for _, s := range r.Steps {
		if c := s.Call; c != nil {
			pairs = append(pairs, [2]string{"model", callText(*c)})
			for _, w := range c.Warnings {
				pairs = append(pairs, [2]string{"", w})
			}
		}
		if s.Outcome == precis.OutcomeFailed || s.Code == precis.ReasonBudget || s.Code == precis.ReasonCapped || strings.HasPrefix(s.Reason, "dry run: ") {
			pairs = append(pairs, [2]string{"not used", fmt.Sprintf("%s: %s (%s): %s", s.Rung, s.Outcome, s.Code, s.Reason)})
		}
	}
	for _, w := range r.Warnings {
		pairs = append(pairs, [2]string{"warning", w})
	}
	return pairs
}

// callText is "claude-sonnet-4-5, 1 call, 12,000 tokens in, 800 out, $0.0480; by
// itself: there is no live request".
func callText(c precis.CallReport) string {
	if c.Cached && c.Calls == 0 {
		return c.Model + ": paid before, nothing was called"
	}
	calls := "1 call"
	if c.Calls != 1 {
		calls = fmt.Sprintf("%d calls", c.Calls)
	}
	form := map[string]string{"cache": "through the prompt cache", "compact": "by itself", "parts": "in parts"}[c.Form]
	return fmt.Sprintf("%s, %s, %s tokens in, %s out, $%.4f; %s: %s", c.Model, calls, term.Number(c.Usage.Input+c.Usage.CacheRead+c.Usage.CacheWrite), term.Number(c.Usage.Output), c.CostUSD, form, c.Why)
}
