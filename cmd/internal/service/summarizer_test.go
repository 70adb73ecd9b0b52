package service_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/precis-dev/precis/cmd/internal/jobs"
	"github.com/precis-dev/precis/cmd/internal/service"
)

// A summarizer that cannot be used is said to be so, is not taken from the page, and no
// other model is paid in its place.
func TestNothingIsPaidInThePlaceOfASummarizer(t *testing.T) {
	t.Setenv("NO_KEY_OF_THE_TEST", "")
	t.Setenv("ANTHROPIC_API_KEY", "")
	t.Setenv("OPENAI_API_KEY", "")
	for name, c := range map[string]struct{ yaml, says string }{
		"no key":           {"  model: claude-haiku-4-5\n  key_env: NO_KEY_OF_THE_TEST\n", "NO_KEY_OF_THE_TEST"},
		"no such model":    {"  model: no-such-model\n", "no-such-model"},
		"its server fails": {"  model: claude-haiku-4-5\n  url: http://127.0.0.1:1\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, "gateway: {upstream: UPSTREAM, store: memory}\nsummarizer:\n"+c.yaml, func(p *service.Parts) { p.Condensing = (&jobs.Opener{}).GatewayCondensing })
			if c.says != "" && (!strings.Contains(s.log.String(), "the summarizer cannot be used") || !strings.Contains(s.log.String(), c.says)) {
				t.Errorf("the log at the start says\n%s", s.log)
			}
			if page := s.ask("GET", "/precis/settings", "").Body.String(); c.says != "" && !strings.Contains(page, "It cannot be used") {
				t.Error("the page does not say that it cannot be used")
			}
			id := s.ask("POST", "/v1/messages", hello(40)).Header().Get("X-Precis-Conversation")
			before := len(s.upstream.Requests())
			res := s.ask("POST", "/precis/api/v1/conversations/"+id+"/condense", `{}`)
			if n := len(s.upstream.Requests()) - before; n != 0 {
				t.Errorf("the conversation's own model was asked %d times: %d %s", n, res.Code, res.Body)
			}
		})
	}
}

// The page takes a model that can be used, and refuses one that cannot, with its reason.
func TestThePageTakesNoSummarizerThatCannotBeUsed(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "k")
	t.Setenv("OPENAI_API_KEY", "")
	s := open(t, "gateway: {upstream: UPSTREAM, store: memory}\nsummarizer:\n  model: claude-haiku-4-5\n", func(p *service.Parts) { p.Condensing = (&jobs.Opener{}).GatewayCondensing })
	b := browse(t, s)
	was := content(t, s.file)
	for _, bad := range []string{"no-such-model", "gpt-5"} {
		b.send(400, "/precis/settings/values", url.Values{modelField: {bad}})
		if content(t, s.file) != was {
			t.Errorf("%s is written", bad)
		}
	}
	for _, good := range []string{"claude-sonnet-4-5", "own"} {
		b.send(200, "/precis/settings/values", url.Values{modelField: {good}})
		if !strings.Contains(content(t, s.file), good) {
			t.Errorf("%s is not written", good)
		}
	}
}

const modelField = "summarizer.model"
