package window_test

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis/internal/window"
)

// walk is evidence that random requests lead to.
func walk(t *rapid.T, now *time.Time, steps int) (e window.Evidence) {
	for range steps {
		*now = now.Add(time.Duration(rapid.IntRange(1, 3600).Draw(t, "seconds")) * time.Second)
		n := rapid.IntRange(1000, 300_000).Draw(t, "tokens")
		if rapid.Bool().Draw(t, "accepted") {
			e = e.Accept(n, n, *now)
		} else {
			e = e.Refuse(window.Overflow{Limit: rapid.SampledFrom([]int{0, n / 2, n}).Draw(t, "limit"), Counted: n, Known: 200_000}, *now)
		}
	}
	return e
}

func encoded(t *rapid.T, e window.Evidence) string {
	data, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Evidence comes back from its stored form, and replicas that exchange what they know
// agree, whoever begins, and have nothing to exchange any more.
func TestEvidenceIsKeptAndMerged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := start
		a := walk(t, &now, rapid.IntRange(0, 8).Draw(t, "first"))
		b := walk(t, &now, rapid.IntRange(0, 8).Draw(t, "second"))
		var back window.Evidence
		if err := json.Unmarshal([]byte(encoded(t, a)), &back); err != nil || encoded(t, back) != encoded(t, a) {
			t.Fatalf("%s came back as %s, %v", encoded(t, a), encoded(t, back), err)
		}
		both := a.Merge(b)
		if other := b.Merge(a); encoded(t, other) != encoded(t, both) {
			t.Fatalf("%s and %s make %s, or %s", encoded(t, a), encoded(t, b), encoded(t, both), encoded(t, other))
		}
		if again := both.Merge(b).Merge(a); encoded(t, again) != encoded(t, both) {
			t.Fatalf("%s becomes %s", encoded(t, both), encoded(t, again))
		}
	})
}

// What was disproved at one replica does not come back from another.
func TestMergedEvidenceStaysDisproved(t *testing.T) {
	small := window.Evidence{}.Refuse(window.Overflow{Limit: 8000, Counted: 20_000, Known: 200_000}, start)
	large := window.Evidence{}.Accept(50_000, 50_000, start.Add(time.Minute))
	if e := small.Merge(large); e.Stated.Tokens != 0 || e.Accepted.Tokens != 50_000 {
		t.Errorf("a request that was answered later: %+v", e)
	}
	smaller := window.Evidence{}.Refuse(window.Overflow{Limit: 9000, Counted: 20_000, Known: 200_000}, start.Add(time.Hour))
	if e := smaller.Merge(large); e.Stated.Tokens != 9000 || e.Accepted.Tokens != 0 {
		t.Errorf("a window that has become smaller since: %+v", e)
	}
}

// What cannot be is no evidence.
func TestStoredEvidenceIsChecked(t *testing.T) {
	for _, text := range []string{
		`{"stated":{"tokens":-5,"time":"2026-01-02T03:04:05Z","times":1}}`, `{"refused":{"tokens":5000,"times":1}}`,
		`{"pending":{"tokens":5000,"time":"2026-01-02T03:04:05Z"}}`, `{"accepted":{"tokens":9000000000,"time":"2026-01-02T03:04:05Z"}}`, `{"fits":7,"later":1}`, `null`,
	} {
		var e window.Evidence
		if err := json.Unmarshal([]byte(text), &e); err != nil || e != (window.Evidence{}) {
			t.Errorf("%s: %+v, %v", text, e, err)
		}
	}
}
