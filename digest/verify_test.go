package digest_test

import (
	"strings"
	"testing"

	"precis"
	"precis/digest"
)

func request(s *session, text string) precis.SummaryRequest {
	return precis.SummaryRequest{Messages: s.msgs, Previous: text}
}

const goodSummary = `## Work so far
The user asked to raise the timeout of the client to 45 s and to listen on port 8081. Never delete anything under data/.
The user renamed the config key in settings.yaml. Ask before touching the dialer; write the changelog in plain words.
Changed internal/net/client.go. The root cause was a stale deadline in the pool.
` + "`npm test` fails: AssertionError: expected 45 to equal 44."

func TestVerify(t *testing.T) {
	good := digest.Verify(request(client(), goodSummary), "", nil)
	if !good.About || good.Score < 85 || len(good.Contradicts)+len(good.Invents) > 0 {
		t.Errorf("a good summary: %+v", good)
	}
	bad := digest.Verify(request(client(), "The client was worked on. All tests pass. See issue #90210."), "", nil)
	if bad.Score > 40 || len(bad.Contradicts) != 1 || len(bad.Invents) != 1 {
		t.Errorf("a bad summary: %+v", bad)
	}
	kinds := map[string]bool{}
	for _, l := range bad.Lacks {
		kinds[l.Kind] = true
	}
	for _, kind := range []string{"rules", "requests", "files", "failures"} {
		if !kinds[kind] {
			t.Errorf("%s are not lacking: %+v", kind, bad.Lacks)
		}
	}
	if again := digest.Verify(request(client(), "Nothing yet."), goodSummary, nil); len(again.Contradicts)+len(again.Invents) > 0 || again.Score < good.Score && again.About {
		t.Errorf("what stands beside a text is lacking: %+v", again)
	}
}

// TestVerifyOtherTexts reads what is no summary of the conversation.
func TestVerifyOtherTexts(t *testing.T) {
	if v := digest.Verify(request(client(), "Bake the sourdough at high heat. Knead flour and yeast, then proof overnight in a linen basket."), "", nil); v.About || v.Score > 0 {
		t.Errorf("a recipe: %+v", v)
	}
	if v := digest.Verify(request(client(), "Le délai d'attente a été relevé dans internal/net/client.go; internal/net/dialer.go et `settings.yaml` restent inchangés."), "", nil); !v.About || !v.OtherLanguage {
		t.Errorf("another language: %+v", v)
	}
	long := digest.Verify(request(client(), strings.Repeat("All tests pass and the timeout of the client is 30 s. ", 100_000)), "", nil)
	if long.Unread == 0 {
		t.Error("five megabytes were read")
	}
}
