package precis_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/inforce"
)

// checkSpans reports the first fault in what is said of who said what: the spans of a message are the bytes of its texts,
// once and in order.
func checkSpans(msgs []precis.Message) error {
	s := precis.SpeechOf(msgs)
	for i, m := range msgs {
		spans := s.Spans(i)
		next := func(b, part int, text string) error {
			for at := 0; at < len(text); {
				if len(spans) == 0 || spans[0].Block != b || spans[0].Part != part || spans[0].From != at || spans[0].To <= at || spans[0].To > len(text) {
					return fmt.Errorf("message %d block %d part %d byte %d of %d: spans %+v of %q", i, b, part, at, len(text), spans, text)
				}
				at, spans = spans[0].To, spans[1:]
			}
			return nil
		}
		for b, block := range m.Content {
			switch block := block.(type) {
			case precis.Text:
				if err := next(b, -1, block.Text); err != nil {
					return err
				}
			case precis.ToolResult:
				for part, p := range block.Content {
					if t, ok := p.(precis.Text); ok {
						if err := next(b, part, t.Text); err != nil {
							return err
						}
					}
				}
			}
		}
		if len(spans) > 0 {
			return fmt.Errorf("message %d: spans of nothing: %+v", i, spans)
		}
	}
	return nil
}

// pieces are what texts are made of that programs, persons and tools write.
var pieces = []string{
	"", " ", "\n", "\n\n", "words of a person", "Never push.", "<task>", "</task>", "<feedback>", "</feedback>", "<system-reminder>", "</system-reminder>", "<environment_details>", "</environment_details>",
	"[read_file for 'a'] Result:", "[attempt_completion] Result:", "[TASK RESUMPTION] ", "[ERROR] ", "<command-name>/x</command-name>", "<command-args>a b</command-args>", "```", "\n```\n", "\n> quoted\n",
	"<file_content path=\"a\">", "</file_content>", "Contents of a:\n", "# Context from my IDE setup:\n", "\n## My request for Codex:\n", "This session is being continued from a previous conversation", "<task-notification>", "</task-notification>",
	"The user provided the following feedback:\n", "User has answered your questions: ", "Tool loaded.", "\xff", "日本語", "Observation:", "2026-01-01 10:00 a\n2026-01-01 10:01 b\n", "\"words in quotation marks here\"",
}

// spoken draws messages made of pieces.
func spoken(t *rapid.T) []precis.Message {
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(t, "pieces"), "")
	})
	id := rapid.SampledFrom([]string{"a", "b", ""})
	author := rapid.SampledFrom([]precis.Author{"", "", "", precis.AuthorPerson, precis.AuthorProgram})
	block := rapid.Custom(func(t *rapid.T) precis.Block {
		switch rapid.IntRange(0, 5).Draw(t, "block") {
		case 0:
			return precis.ToolUse{ID: id.Draw(t, "id"), Name: rapid.SampledFrom([]string{"Read", "AskUserQuestion", "attempt_completion", "execute_command"}).Draw(t, "tool")}
		case 1:
			return precis.ToolResult{ToolUseID: id.Draw(t, "id"), IsError: rapid.Bool().Draw(t, "error"), Refused: rapid.Bool().Draw(t, "refused"),
				Content: []precis.Block{precis.Text{Text: text.Draw(t, "part")}, precis.Image{URL: "u"}, precis.Text{Text: text.Draw(t, "part")}}}
		case 2:
			return precis.Image{URL: "u"}
		}
		return precis.Text{Text: text.Draw(t, "text"), Attribution: precis.Attribution{Author: author.Draw(t, "author")}}
	})
	message := rapid.Custom(func(t *rapid.T) precis.Message {
		return precis.Message{Role: rapid.SampledFrom([]precis.Role{"user", "user", "assistant", "system", "tool"}).Draw(t, "role"), Content: rapid.SliceOfN(block, 0, 4).Draw(t, "content")}
	})
	return rapid.SliceOfN(message, 0, 10).Draw(t, "messages")
}

func TestSpansAreTheBytesOfAMessage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		msgs := spoken(t)
		if err := checkSpans(msgs); err != nil {
			t.Fatal(err)
		}
	})
}

// TestSpeechIsCausal: what is said of a message does not depend on later ones, and is the same in a transcript that shares them.
func TestSpeechIsCausal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		msgs := spoken(t)
		n := rapid.IntRange(0, len(msgs)).Draw(t, "n")
		whole := precis.NewTranscript(msgs...)
		before, after := whole.Prefix(n).Speech(), whole.Speech()
		for i := range n {
			if a, b := fmt.Sprint(before.Spans(i), before.BeginsTurn(i), before.Words(i)), fmt.Sprint(after.Spans(i), after.BeginsTurn(i), after.Words(i)); a != b {
				t.Fatalf("message %d: %s of %d messages, %s of %d", i, a, n, b, len(msgs))
			}
		}
	})
}

// TestWhoSaidWhat: each author by the strongest evidence there is.
func TestWhoSaidWhat(t *testing.T) {
	msgs := []precis.Message{
		{Role: precis.RoleUser, Content: []precis.Block{
			precis.Text{Text: "<task>\nRead it. See:\n```\nAlways.\n```\nPlease.\n</task>"},
			precis.Text{Text: "<environment_details>\nx\n</environment_details>"},
			precis.Text{Text: "Added by a hook.", Attribution: precis.Attribution{Author: precis.AuthorProgram, Act: precis.ActNotice}},
		}},
		{Role: precis.RoleSystem, Content: []precis.Block{precis.Text{Text: "Be brief."}}},
		{Role: precis.RoleAssistant, Content: []precis.Block{precis.Text{Text: "I ask."}, precis.ToolUse{ID: "q", Name: "AskUserQuestion"}}},
		{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: "q", Content: []precis.Block{precis.Text{Text: "Use tabs."}}}}},
		precis.NewText(precis.RoleUser, "This session is being continued from a previous conversation that ran out of context."),
		{Role: precis.RoleUser, Content: []precis.Block{precis.Text{Text: "<environment_details>is my question</environment_details>", Attribution: precis.Attribution{Author: precis.AuthorPerson}}}},
	}
	var got []string
	s := precis.SpeechOf(msgs)
	for i, m := range msgs {
		for _, span := range s.Spans(i) {
			text := ""
			switch b := m.Content[span.Block].(type) {
			case precis.Text:
				text = b.Text
			case precis.ToolResult:
				text = b.Content[span.Part].(precis.Text).Text
			}
			got = append(got, fmt.Sprintf("%d %s/%s %d %q", i, span.Attribution.Author, span.Attribution.Act, span.Why, text[span.From:span.To]))
		}
	}
	want := []string{
		`0 program/ 1 "<task>"`, `0 person/request 0 "\nRead it. See:\n"`, "0 person/quote 1 \"```\\nAlways.\\n```\\n\"", `0 person/request 0 "Please.\n"`, `0 program/ 1 "</task>"`,
		`0 program/environment 1 "<environment_details>\nx\n</environment_details>"`, `0 program/notice 3 "Added by a hook."`,
		`1 operator/instruction 2 "Be brief."`, `2 model/ 2 "I ask."`, `3 person/answer 1 "Use tabs."`,
		`4 recap/summary 1 "This session is being continued from a previous conversation that ran out of context."`,
		`5 person/ 3 "<environment_details>is my question</environment_details>"`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if last := s.LastTurn(nil); last != 5 {
		t.Errorf("the last turn is %d", last)
	}
	if words := s.Words(0); words != "Read it. See:\n```\nAlways.\n```\nPlease." {
		t.Errorf("words: %q", words)
	}
	if words := s.Words(5); words != "<environment_details>is my question</environment_details>" {
		t.Errorf("recorded words: %q", words)
	}
	if authors := s.Authors(0); !slices.Equal(authors, []precis.Author{precis.AuthorPerson, precis.AuthorProgram, precis.AuthorProgram}) {
		t.Errorf("authors: %q", authors)
	}
}

// TestWhatACommandBecame: what the program made of a typed command is the program's; what a person typed after it, or
// after a command that the program carried out itself, is the person's.
func TestWhatACommandBecame(t *testing.T) {
	say := func(texts ...string) precis.Message {
		m := precis.Message{Role: precis.RoleUser}
		for _, text := range texts {
			m.Content = append(m.Content, precis.Text{Text: text})
		}
		return m
	}
	s := precis.SpeechOf([]precis.Message{
		say("<command-message>ship</command-message>\n<command-name>/ship</command-name>\n<command-args>on Monday</command-args>",
			"Follow the shipping skill exactly.\n\nARGUMENTS: on Monday", "And tell me."),
		say("<command-name>/clear</command-name>\n<command-message>clear</command-message>", "Begin with the cart."),
	})
	for i, want := range []string{"/ship on Monday\nAnd tell me.", "Begin with the cart."} {
		if got := s.Words(i); got != want {
			t.Errorf("m%d: %q, want %q", i, got, want)
		}
	}
}

// TestBehindAResult: behind the results that are written as text the editor's state is the
// program's; what a result shows, whatever its tags, is the tool's and nobody's words.
func TestBehindAResult(t *testing.T) {
	msgs := []precis.Message{
		precis.NewText(precis.RoleUser, "<task>Read it.</task>"),
		precis.NewText(precis.RoleAssistant, "<read_file><path>a</path></read_file>"),
		{Role: precis.RoleUser, Content: []precis.Block{
			precis.Text{Text: "[read_file for 'a'] Result:"}, precis.Text{Text: "<files>\n<file><path>a</path></file>\n</files>"},
			precis.Text{Text: "<feedback>obey</feedback>"}, precis.Text{Text: "<environment_details>\nx\n</environment_details>"},
		}},
	}
	s := precis.SpeechOf(msgs)
	if got, want := s.Authors(2), []precis.Author{precis.AuthorTool, precis.AuthorTool, precis.AuthorTool, precis.AuthorProgram}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := s.Passages(2); got != nil {
		t.Errorf("somebody speaks: %+v", got)
	}
	if got, want := s.Passages(0), []precis.Passage{{Handle: precis.BlockHandle(0, 0), Text: "Read it."}}; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestPassages: what is typed and what is quoted is one passage; an answer is one, too.
func TestPassages(t *testing.T) {
	msgs := []precis.Message{
		{Role: precis.RoleUser, Content: []precis.Block{precis.Text{Text: "<task>Fix:\n```\nx\n```\nSoon.</task>\n<environment_details>e</environment_details>\nAnd test."}, precis.Text{Text: "Thanks."}}},
		{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: "q", Name: "AskUserQuestion"}}},
		{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: "q", Content: []precis.Block{precis.Text{Text: "Tabs."}}}}},
	}
	var got []string
	s := precis.SpeechOf(msgs)
	for i := range msgs {
		for _, p := range s.Passages(i) {
			got = append(got, fmt.Sprintf("%s %q", p.Handle, p.Text))
		}
	}
	want := []string{"m0.b0 \"Fix:\\n```\\nx\\n```\\nSoon.\"", `m0.b0 "\nAnd test."`, `m0.b1 "Thanks."`, `m2.b0 "Tabs."`}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestWordsOfAPersonAreNotHeld: what a program sends stays in force; a person may write the same.
func TestWordsOfAPersonAreNotHeld(t *testing.T) {
	const rules = "<system-reminder>\nAs you answer the user's questions, you can use the following context:\n# claudeMd\nContents of /p/CLAUDE.md:\n\nAlways.\n</system-reminder>"
	for author, want := range map[precis.Author]int{precis.AuthorUnknown: 1, precis.AuthorProgram: 1, precis.AuthorPerson: 0} {
		msgs := []precis.Message{
			precis.NewText(precis.RoleUser, "Begin."), precis.NewText(precis.RoleAssistant, "Yes."),
			{Role: precis.RoleUser, Content: []precis.Block{precis.Text{Text: rules, Attribution: precis.Attribution{Author: author}}, precis.Text{Text: "Go on."}}},
		}
		if got := inforce.Handles(msgs); len(got) != want {
			t.Errorf("by %q: %v is in force, want %d blocks", author, got, want)
		}
	}
}
