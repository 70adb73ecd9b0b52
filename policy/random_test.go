package policy_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/internal/precistest"
	"github.com/precis-dev/precis/measure"
	"github.com/precis-dev/precis/policy"
)

// randomConversation makes a valid conversation from a seed. It is the quick
// sister of conversation, for many runs.
func randomConversation(r *rand.Rand) []precis.Message {
	var msgs []precis.Message
	calls := 0
	for range 1 + r.IntN(12) {
		msgs = append(msgs, precis.NewText(precis.RoleUser, randomWords(r, 60)))
		for range r.IntN(4) {
			use, result := precis.Message{Role: precis.RoleAssistant}, precis.Message{Role: precis.RoleUser}
			if r.IntN(3) == 0 {
				use.Content = append(use.Content, precis.Thinking{Text: randomWords(r, 10), Signature: "s"})
			}
			for range 1 + r.IntN(2) {
				calls++
				id := "call" + strconv.Itoa(calls)
				input := fmt.Appendf(nil, `{"path":"f%d.go","content":%q}`, r.IntN(4), randomWords(r, 30))
				use.Content = append(use.Content, precis.ToolUse{ID: id, Name: []string{"read_file", "write_file", "bash"}[r.IntN(3)], Input: input})
				result.Content = append(result.Content, precis.ToolResult{ToolUseID: id, IsError: r.IntN(9) == 0, Content: []precis.Block{precis.Text{Text: randomWords(r, 200)}}})
			}
			msgs = append(msgs, use, result)
		}
		if r.IntN(2) == 0 {
			msgs = append(msgs, precis.NewText(precis.RoleAssistant, randomWords(r, 40)))
		}
	}
	return msgs
}

// story is cut into texts, so that some come again word for word.
var story = strings.Repeat("the quick brown fox jumps over the lazy dog and never looks back again while it rains ", 20)

func randomWords(r *rand.Rand, most int) string {
	from := 10 * r.IntN(8)
	return story[from : from+1+r.IntN(6*most)]
}

// TestCondensingIsTakenBack condenses random conversations, as many as
// PRECIS_RUNS says (2000 without it), and takes it back in both ways.
func TestCondensingIsTakenBack(t *testing.T) {
	runs := 2000
	if testing.Short() {
		runs = 300
	}
	if n, err := strconv.Atoi(os.Getenv("PRECIS_RUNS")); err == nil {
		runs = n
	}
	m := manager(t, policy.Options{})
	counter := chars4(t)
	seeds := make(chan int)
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
		wg.Go(func() {
			for seed := range seeds {
				if err := takenBack(m, counter, seed); err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
			}
		})
	}
	for seed := range runs {
		if t.Failed() {
			break
		}
		seeds <- seed
	}
	close(seeds)
	wg.Wait()
}

func takenBack(m *policy.Manager, counter precis.Counter, seed int) error {
	r := rand.New(rand.NewPCG(uint64(seed), 1))
	msgs := randomConversation(r)
	n := len(msgs)
	conv := &precis.Conversation{Transcript: precis.NewTranscript(msgs...)}
	if r.IntN(3) == 0 { // an earlier run to nest on
		if _, err := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: window(2000), TriggeredBy: precis.TriggeredManual}); err != nil {
			return err
		}
	}
	before := precis.View(conv.Transcript, conv.Edits)
	earlier := len(conv.Edits)
	w := []int{300, 700, 2000, 9000}[r.IntN(4)]
	res, err := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: window(w), TriggeredBy: map[bool]precis.TriggeredBy{true: precis.TriggeredManual}[r.IntN(2) == 0]})
	if err != nil {
		return fmt.Errorf("window %d: %w", w, err)
	}
	switch {
	case len(precis.Check(res.View)) > 0:
		return fmt.Errorf("window %d: %v", w, precis.Check(res.View))
	case float64(measure.New(counter).View(res.View)) > res.Report.Decision.Allowed:
		return fmt.Errorf("window %d: over budget", w)
	case res.Report.After.Tokens > res.Report.Before.Tokens:
		return fmt.Errorf("window %d: the view grew", w)
	}
	more := randomConversation(r)
	if len(conv.Edits) == earlier {
		return nil
	}
	undone := *conv
	if _, err := m.Undo(context.Background(), &undone); err != nil {
		return err
	}
	if !reflect.DeepEqual(precis.View(undone.Transcript, undone.Edits), before) {
		return fmt.Errorf("window %d: undo gives another view", w)
	}
	conv.Transcript.Append(renamed(more)...)
	if back := precis.Rewound(conv, n); back.Transcript.Fingerprint(n) != precis.NewTranscript(msgs...).Fingerprint(n) ||
		!reflect.DeepEqual(precis.View(back.Transcript, back.Edits[:earlier]), before) {
		return fmt.Errorf("window %d: rewinding gives another conversation", w)
	}
	return nil
}

// TestAnySequence does whatever users do, in any order, and holds the promises
// after each step.
func TestAnySequence(t *testing.T) {
	plain, gated := manager(t, policy.Options{}), manager(t, policy.Options{Gate: digest.Gate{}})
	ctx := context.Background()
	for seed := range 400 {
		m := []*policy.Manager{plain, gated}[seed%2]
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		conv := &precis.Conversation{Transcript: precis.NewTranscript(randomConversation(r)...)}
		for step := range 12 {
			n := conv.Transcript.Len()
			what := r.IntN(6)
			var err error
			switch what {
			case 0:
				_, err = m.Manage(ctx, policy.Request{Conversation: conv, Window: window([]int{400, 1500, 4000}[r.IntN(3)]), TriggeredBy: map[bool]precis.TriggeredBy{true: precis.TriggeredManual}[r.IntN(2) == 0]})
			case 1:
				_, err = m.Undo(ctx, conv)
			case 2:
				_, err = m.Restore(ctx, conv, precis.MessageHandle(r.IntN(n)))
			case 3:
				_, err = m.Pin(ctx, conv, precis.MessageHandle(r.IntN(n)))
			case 4:
				to := 1 + r.IntN(n)
				edits := conv.Edits
				var e precis.Edit
				if e, err = m.Rewind(ctx, conv, to); err == nil {
					if len(e.Replace) > 0 {
						to = e.Replace[0].From
					}
					back, _ := precis.BranchedAt(&precis.Conversation{Transcript: conv.Transcript, Edits: edits}, to)
					if got, want := precistest.Texts(precis.View(conv.Transcript, conv.Edits)), precistest.Texts(precis.View(back.Transcript, back.Edits)); !reflect.DeepEqual(got, want) {
						t.Fatalf("seed %d step %d: rewound to %d: %q, want %q", seed, step, to, got, want)
					}
				}
			case 5:
				conv.Transcript.Append(precis.NewText(precis.RoleUser, fmt.Sprint("and also ", seed, step)))
			}
			if code := precis.CodeOf(err); code != "" && code != precis.CodeNotFound && code != precis.CodeOverBudget {
				t.Fatalf("seed %d step %d, action %d: %v", seed, step, what, err)
			}
			view, _ := precis.Repair(precis.View(conv.Transcript, conv.Edits))
			if b := precis.Check(view); len(b) > 0 {
				t.Fatalf("seed %d step %d, action %d: %v", seed, step, what, b[0])
			}
		}
	}
}

// renamed gives a second conversation's calls identifiers of their own.
func renamed(msgs []precis.Message) []precis.Message {
	for _, m := range msgs {
		for i, b := range m.Content {
			switch b := b.(type) {
			case precis.ToolUse:
				b.ID += "x"
				m.Content[i] = b
			case precis.ToolResult:
				b.ToolUseID += "x"
				m.Content[i] = b
			}
		}
	}
	return msgs
}
