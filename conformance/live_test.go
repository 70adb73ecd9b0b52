package conformance

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/digest/effects"
	"github.com/precis-dev/precis/measure"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/retain"
)

// TestLive sends recordings turn by turn, as they grew, through a window of 32,000 tokens. What a view keeps
// after many rounds is compared with one condensation of all that was said until then; files written and
// the newest request are always there, and the user's rules where they take no more than a tenth of the window.
func TestLive(t *testing.T) {
	m := newManager(t, preset.Frugal)
	var mu sync.Mutex
	compared, kept, once := 0, 0.0, 0.0
	t.Cleanup(func() {
		t.Logf("%d rounds compared: keeps %.3f, at once %.3f", compared, kept/float64(max(compared, 1)), once/float64(max(compared, 1)))
		if kept < once-.02*float64(compared) {
			t.Error("rounds keep less than condensing at once")
		}
	})
	for _, path := range sampledRecordings(t, 0, 14) {
		t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			rec := readRecording(t, path)
			if rec == nil {
				return // TestTranscripts reads them all
			}
			l := live{t: t, m: m, whole: rec.Conversation.Transcript, meter: m.NewMeter()}
			l.all()
			mu.Lock()
			defer mu.Unlock()
			compared, kept, once = compared+l.compared, kept+l.kept, once+l.once
			t.Logf("%d rounds, %d compared: keeps %.3f, at once %.3f; %d of %d rules lost, at once %d", l.rounds, l.compared, l.kept/float64(max(l.compared, 1)), l.once/float64(max(l.compared, 1)), l.lost, l.rules, l.lostAtOnce)
		})
	}
}

// live is a recording that is sent turn by turn.
type live struct {
	t     *testing.T
	m     *policy.Manager
	whole *precis.Transcript
	meter *measure.Meter
	edits []precis.Edit

	rounds, compared        int
	kept, once              float64
	rules, lost, lostAtOnce int
}

// liveWindow is in tokens. After so many rounds each sixth one is compared, up to the last.
const (
	liveWindow  = 32_000
	firstRounds = 3
	eachRound   = 6
	mostRounds  = 30
	farBelow    = .16 // how much less one round may keep than condensing at once; all of them together keep as much
)

func (l *live) all() {
	for n := 1; n < l.whole.Len(); n++ {
		if l.whole.At(n).Role != precis.RoleAssistant || l.whole.At(n-1).Role != precis.RoleUser {
			continue
		}
		conv := &precis.Conversation{Transcript: l.whole.Prefix(n), Edits: l.edits}
		res, err := l.m.Manage(l.t.Context(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: liveWindow}, MaxOutput: liveWindow / 8, Meter: l.meter})
		if precis.CodeOf(err) == precis.CodeOverBudget {
			return
		}
		if err != nil {
			l.t.Fatalf("message %d: %v", n, err)
		}
		l.edits = conv.Edits
		if len(res.Edits) == 0 {
			continue
		}
		if l.rounds++; l.rounds >= firstRounds && l.rounds%eachRound == firstRounds {
			l.compare(n, res)
		}
		if l.rounds == mostRounds {
			return
		}
	}
}

// compare holds a round against one condensation of all that was said.
func (l *live) compare(n int, res policy.Result) {
	conv := &precis.Conversation{Transcript: l.whole.Prefix(n)}
	once, err := l.m.Manage(l.t.Context(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: liveWindow}, MaxOutput: liveWindow / 8, TriggeredBy: precis.TriggeredManual})
	if err != nil || once.Report.Retention == nil || res.Report.Retention == nil {
		return // it does not fit at once, or is small enough
	}
	is, want := res.Report.Retention, once.Report.Retention
	l.compared++
	l.kept, l.once = l.kept+is.Share, l.once+want.Share
	l.rules, l.lost, l.lostAtOnce = l.rules+is.Rules, l.lost+len(is.RulesLost), l.lostAtOnce+len(want.RulesLost)
	if is.Share < want.Share-farBelow {
		l.t.Errorf("message %d, round %d: keeps %.3f, at once %.3f", n, l.rounds, is.Share, want.Share)
	}
	l.written(n, res)
	lost := slices.DeleteFunc(slices.Clone(is.RulesLost), func(r policy.LostAnchor) bool { // what was pasted is shortened
		return !strings.Contains(retain.Folded(retain.WithoutPasted(l.whole.At(r.Handle.From).PlainText())), retain.Folded(r.Text))
	})
	if rules := l.ruleTokens(n); len(lost) > 0 && rules <= liveWindow/10 {
		l.t.Errorf("message %d, round %d: %d of %d rules, which take %d tokens, are lost: %+v", n, l.rounds, len(lost), is.Rules, rules, lost)
	}
}

// written holds that the view names every file that was written, and the newest request word for word.
func (l *live) written(n int, res policy.Result) {
	view := retain.FoldedText(res.View)
	state := digest.StateOf(&precis.Conversation{Transcript: l.whole.Prefix(n)})
	size := 0
	var missing []string
	for _, f := range state.Files {
		name := path.Base(f.Path)
		if size += len(f.Path) / 4; (f.State == effects.FileCreated || f.State == effects.FileWritten) && !strings.Contains(view, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 && size <= liveWindow/10 {
		l.t.Errorf("message %d, round %d: %d files that were written are not named: %q", n, l.rounds, len(missing), missing)
	}
	for _, r := range state.Requests {
		shown := slices.ContainsFunc(res.Units, func(u precis.Unit) bool { return u.Original() && u.From == r.Handle.From })
		if r.Current && len(r.Text) < 1000 && !shown && !strings.Contains(view, retain.Folded(r.Text)) {
			l.t.Errorf("message %d, round %d: the newest request is not in the view: %q", n, l.rounds, r.Text)
		}
	}
}

// ruleTokens counts the rules that the user had set.
func (l *live) ruleTokens(n int) (tokens int) {
	x := retain.Read("", l.whole.Messages()[:n])
	for _, r := range x.Rules() {
		tokens += l.meter.Block(precis.RoleUser, precis.Text{Text: fmt.Sprint("- m100: ", r.Text)})
	}
	return tokens
}
