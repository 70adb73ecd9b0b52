package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"

	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/cmd/internal/service"
	"github.com/precis-dev/precis/cmd/internal/term"
	"github.com/precis-dev/precis/provider/providertest"
)

// rehearsalWindow is the window, in tokens, that the scripted conversation exceeds.
const rehearsalWindow = 16_000

// rehearse sends a scripted conversation through a gateway with the configured settings to a
// scripted upstream, until it is condensed.
func (e *exam) rehearse(ctx context.Context) {
	const check = "rehearsal"
	if e.cfg.Settings.Observe {
		e.add(check, Warn, "choose another preset", "the preset %s only observes: nothing is condensed",
			e.cfg.Settings.Preset)
		return
	}
	upstream := providertest.New(nil, providertest.Options{Window: rehearsalWindow})
	defer upstream.Close()
	c := *e.cfg
	c.Window = rehearsalWindow
	c.Gateway = config.Gateway{Listen: c.Gateway.Listen, Upstream: upstream.URL, Store: config.Memory,
		Bodies: true, MemoryMB: 64, Proxy: config.Off}
	s, err := service.Open(ctx, service.Parts{Config: &c})
	if err != nil {
		e.add(check, Bad, "", "the gateway cannot be made: %v", err)
		return
	}
	defer s.Close(ctx)
	before, after, err := converse(ctx, s.Handler())
	if problems := upstream.Problems(); err == nil && len(problems) > 0 {
		err = fmt.Errorf("the API would refuse: %s", problems[0])
	}
	if err != nil {
		e.add(check, Bad, "this is a fault of precis, or of the settings; precis config shows them",
			"a scripted conversation failed: %v", err)
		return
	}
	e.ok(check, "a scripted conversation of %s tokens was condensed to %s", term.Number(before),
		term.Number(after))
}

// converse extends a conversation until the gateway condenses it. It returns the tokens of the
// client's request and of the forwarded one.
func converse(ctx context.Context, h http.Handler) (before, after int, err error) {
	type object = map[string]any
	messages := []object{{"role": "user", "content": "Read every file, and never change main.go."}}
	for turn := range 40 {
		id := fmt.Sprintf("t%d", turn)
		messages = append(messages,
			object{"role": "assistant", "content": []object{{"type": "tool_use", "id": id, "name": "read",
				"input": object{"path": fmt.Sprintf("f%d.txt", turn)}}}},
			object{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": id,
				"content": strings.Repeat(fmt.Sprintf("line of file %d\n", turn), 300)}}})
		body, err := json.Marshal(object{"model": "claude-sonnet-4-5", "max_tokens": 500,
			"messages": messages,
			"tools":    []object{{"name": "read", "input_schema": object{"type": "object"}}}})
		if err != nil {
			return 0, 0, err
		}
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1/v1/messages",
			bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Anthropic-Version", "2023-06-01")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			return 0, 0, fmt.Errorf("status %d after %d turns: %.200s", w.Code, turn+1, w.Body.String())
		}
		before, _ = strconv.Atoi(w.Header().Get("X-Precis-Tokens-Before"))
		after, _ = strconv.Atoi(w.Header().Get("X-Precis-Tokens-After"))
		if w.Header().Get("X-Precis-Action") == "reduced" && after < before {
			return before, after, nil
		}
	}
	return 0, 0, fmt.Errorf("nothing was condensed")
}
