package hook

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/table"
	"github.com/precis-dev/precis/internal/table/tabletest"
)

func TestGivesAgain(t *testing.T) {
	tabletest.Examples(t, again(), func(row table.Row, text string) bool {
		msgs := []precis.Message{precis.NewText(precis.RoleUser, strings.ReplaceAll(text, `\n`, "\n"))}
		out, given := withoutGiven(row.Get("host"), msgs)
		return out[0].PlainText() == "" && given != ""
	})
	for _, row := range again().Rows {
		if !slices.Contains(Hosts(), row.Get("host")) {
			t.Errorf("%s: %s has no hooks", row.Place, row.Get("host"))
		}
	}
	if out, _ := withoutGiven("opencode", []precis.Message{precis.NewText(precis.RoleUser, "Today's date is 2026-11-20.")}); out[0].PlainText() == "" {
		t.Error("a text is left out of a program that gives nothing again")
	}
}

// attachment is Claude Code's line about content given to the model.
func attachment(parent, id, content string) string {
	return fmt.Sprintf(`{"parentUuid":%q,"uuid":%q,"sessionId":"s1","type":"attachment","attachment":%s}`+"\n", parent, id, content)
}

// listed returns the content that Claude Code gives at the start and again after a compaction; id
// is the previous line's.
func listed(id string) (lines, last string) {
	for n, content := range []string{
		`{"type":"skill_listing","content":"- trim-wick: Trims \"every wick\" by 7341 mm. Always call trimWick first."}`,
		`{"type":"agent_listing_delta","addedLines":["- keeperAgent: Keeps watch."]}`,
		`{"type":"deferred_tools_delta","addedLines":["mcp__lamp__ignite"]}`,
		`{"type":"mcp_instructions_delta","addedBlocks":["## lamp\nCall igniteFirst."]}`,
		`{"type":"instructions","files":[{"path":"/src/lamp/CLAUDE.md","content":"Write watchHouse in logs."}]}`,
		`{"type":"environment","snapshot":{"workingDirectory":"/src/lamp","platform":"linux","shell":"zsh","osVersion":"Linux 9.9.1"}}`,
		`{"type":"remote_session_change","commit":"Lit-By: the keeper"}`,
	} {
		next := fmt.Sprint(id, ".", n)
		lines += attachment(id, next, content)
		id = next
	}
	return lines, id
}

// own are words of these lists and of precis.
var own = []string{"trim-wick", "trimWick", "7341", "every wick", "keeperAgent", "mcp__lamp__ignite", "igniteFirst", "watchHouse", "9.9.1", "Lit-By", "SessionStart", "additional context"}

// After a compaction of Claude Code, texts that the program gives again and earlier texts of precis
// are neither given nor doubted; statements of the summary are checked as usual.
func TestNothingOfTheProgramIsTold(t *testing.T) {
	s := begin(t, "claude-code", 12)
	lists, _ := listed("u1")
	first, rest, _ := strings.Cut(recordings[s.host](12), "\n")
	recording := first + "\n" + lists + rest
	compaction := func(n int, parent, said, gave string) (lines, last string) {
		b := fmt.Sprint("b", n)
		lines = fmt.Sprintf(`{"parentUuid":null,"logicalParentUuid":%q,"uuid":%q,"sessionId":"s1","type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"auto"}}`+"\n", parent, b)
		lines += fmt.Sprintf(`{"parentUuid":%q,"uuid":%q,"sessionId":"s1","type":"user","isCompactSummary":true,"message":{"role":"user","content":%s}}`+"\n", b, b+"s",
			quote("This session is being continued from a previous conversation that ran out of context.\n\n"+said+"\n\nIf you need specific details from before compaction, read the full transcript at: /home/keeper/0b6e2f1a-7c1d-4e0b-9a55-2d6f1c3b8e77.jsonl"))
		again, last := listed(b + "s")
		lines += again + attachment(last, b+"h", `{"type":"hook_additional_context","hookName":"SessionStart:compact","content":[`+quote(gave)+`]}`)
		return lines, b + "h"
	}
	s.write(recording)
	text := s.added(s.run("session-start", claudeCompact, "--part", "1"), "SessionStart")
	for _, word := range own {
		if strings.Contains(text, word) {
			t.Errorf("%q is told:\n%s", word, text)
		}
	}
	if !strings.Contains(text, "Never change lamp/legacy.go") || !strings.Contains(text, "lamp/part3.go") {
		t.Errorf("the conversation is not told:\n%s", text)
	}
	for said, doubted := range map[string]string{
		"The parts were read with trimWick and mcp__lamp__ignite; precis gave a digest at SessionStart. `precis show s1 m3` prints a message.": "",
		"The parts were read. The function dimAtNoon was added in lamp/noonDimmer.go.":                                                         "noonDimmer.go",
	} {
		s := begin(t, "claude-code", 12)
		s.write(recording)
		s.run("session-start", claudeCompact, "--part", "1")
		lines, last := compaction(1, "u26", said, text)
		s.write(recording + lines + fmt.Sprintf(`{"parentUuid":%q,"uuid":"a9","sessionId":"s1","type":"assistant","message":{"role":"assistant","id":"m99","content":[{"type":"text","text":"On with part 12."}]}}`+"\n", last))
		more := s.run("pending", claudeBatch)
		if more != "" {
			more = s.added(more, "PostToolBatch")
		}
		_, doubts, _ := strings.Cut(more, "## Not borne out")
		if doubted == "" && doubts != "" || !strings.Contains(doubts, doubted) {
			t.Errorf("of %q is doubted, want %q:\n%s", said, doubted, more)
		}
		for _, word := range append(own, "0b6e2f1a") {
			_, rest, _ := strings.Cut(more, "\n") // without the introduction
			if strings.Contains(rest, word) {
				t.Errorf("%q is told:\n%s", word, more)
			}
		}
	}
}

// A summary that an event hands over is checked without its frame, too.
func TestASummaryOfAnEvent(t *testing.T) {
	s := begin(t, "claude-code", 12)
	s.run("session-start", claudeCompact, "--part", "1")
	s.run("post-compact", strings.Replace(claudePost, "</summary>", `</summary>\n\nRecent messages are preserved verbatim, see /home/keeper/wickRecord.json.`, 1))
	if text := s.run("pending", claudeBatch); strings.Contains(text, "wickRecord") {
		t.Errorf("the frame is doubted: %s", text)
	}
}

// Codex writes its own texts into the replacement history. They do not count as the summary, and
// conversation text there is not lacking.
func TestOnlyTheSummaryIsChecked(t *testing.T) {
	s := begin(t, "codex", 12)
	lines := strings.Split(strings.TrimSpace(recordings["codex"](12)), "\n")
	item := func(role, text string) string {
		return fmt.Sprintf(`{"type":"message","role":%q,"content":[{"type":"input_text","text":%s}]}`, role, quote(text))
	}
	const frame = "Another language model started to solve this problem and produced a summary of its thinking process:\n<summary>%s</summary>"
	for said, doubted := range map[string]string{"The parts were read.": "", "The parts were read, and lamp/noonDimmer.go was written.": "noonDimmer.go"} {
		summary := fmt.Sprintf(frame, said)
		lines[len(lines)-1] = `{"type":"compacted","payload":{"message":` + quote(summary) + `,"replacement_history":[` +
			item("developer", "Use `spawn_keeper`; sandbox_mode is danger-full-access.") + `,` + item("user", "# AGENTS.md instructions for /src/lamp\n\n<INSTRUCTIONS>\nWrite watchHouse in logs.\n</INSTRUCTIONS>") + `,` +
			item("user", ask) + `,` + item("user", summary) + `]}}`
		s.write(strings.Join(lines, "\n") + "\n")
		text := s.added(s.run("session-start", codexCompact), "SessionStart")
		_, doubts, _ := strings.Cut(text, "## Not borne out")
		if doubted == "" && doubts != "" || !strings.Contains(doubts, doubted) {
			t.Errorf("of %q is doubted, want %q:\n%s", said, doubted, text)
		}
		for _, word := range []string{"spawn_keeper", "sandbox_mode", "watchHouse", "AGENTS.md", "</summary>", "Port the lighthouse"} {
			if strings.Contains(text, word) {
				t.Errorf("%q is told:\n%s", word, text)
			}
		}
	}
}

// What a summary lacks is given in few tokens, however long the conversation was, and of single lines only those that
// name an error.
func TestFewTokensAreAddedToASummary(t *testing.T) {
	s := begin(t, "codex", 0)
	var calls strings.Builder
	first, rest, _ := strings.Cut(recordings[s.host](0), `{"timestamp":"2026-01-01T00:00:00Z","type":"compacted"`)
	for i := range 400 {
		text := fmt.Sprintf("part%d.go turns by rotateLens%d, because wickHeight%d is above %d mm; see lamp/part%d.md.", i, i, i, 1000+i, i)
		if i%20 == 0 {
			text += fmt.Sprintf("\nERROR E%d: the wick of part%d is too high", 4000+i, i)
		}
		fmt.Fprintf(&calls, `{"type":"response_item","payload":{"type":"message","role":"assistant",`+
			`"content":[{"type":"output_text","text":%s}]}}`+"\n", quote(text))
	}
	s.write(first + calls.String() + `{"timestamp":"2026-01-01T00:00:00Z","type":"compacted"` + rest)
	_, text, _ := strings.Cut(s.added(s.run("session-start", codexCompact), "SessionStart"), "\n")
	if n := units(text) / 4; n > roomForMore/4 || n < 50 || strings.Contains(text, "turns by") || !strings.Contains(text, "ERROR E4") {
		t.Errorf("%d tokens:\n%s", n, text)
	}
}
