package jobs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/policy"
)

// A hook is a command line, or a URL if it begins with http:// or https://. It gets the event as
// JSON on standard input or as a POST. Its output or response is the answer. Exit code vetoCode, or
// status 409, forbids the condensation.
const (
	vetoCode    = 10
	hookTimeout = 30 * time.Second
	hookAnswer  = 1 << 20 // most bytes read of an answer
)

func hooks(c config.Hooks) condense.Hooks {
	var h condense.Hooks
	if c.Before != "" {
		h.Before = hook(c.Before)
	}
	if c.After != "" {
		h.After = hook(c.After)
	}
	return h
}

// rungHooks returns the hooks around every rung.
func rungHooks(c config.Hooks) (h policy.Hooks) {
	if c.RungBefore != "" {
		h.Before = func(ctx context.Context, e policy.RungEvent) error {
			_, err := send(ctx, c.RungBefore, e)
			return err
		}
	}
	if c.RungAfter != "" {
		h.After = func(ctx context.Context,
			e policy.RungEvent) (string, error) {
			return send(ctx, c.RungAfter, e)
		}
	}
	return h
}

func hook(where string) func(context.Context, condense.HookEvent) (string, error) {
	return func(ctx context.Context, e condense.HookEvent) (string, error) { return send(ctx, where, e) }
}

// alert returns the function that sends spending alerts to the hook. The report contains each alert
// as a warning, too.
func (o *Opener) alert(where string) func(context.Context, policy.Alert) {
	if where == "" {
		return nil
	}
	return func(ctx context.Context, alert policy.Alert) {
		if _, err := send(ctx, where, alert); err != nil {
			o.console.Warn("the hook for alerts failed: %v", err)
		}
	}
}

// send sends an event to a command or a URL and returns the answer.
func send(ctx context.Context, where string, event any) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, hookTimeout)
	defer cancel()
	data, err := json.Marshal(event)
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(where, "http://") || strings.HasPrefix(where, "https://") {
		return post(ctx, where, data)
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", where)
	cmd.Stdin = bytes.NewReader(data)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == vetoCode:
		return "", condense.ErrVeto
	case err != nil:
		return "", fmt.Errorf("%s: %w", where, err)
	}
	return strings.TrimSpace(string(out)), nil
}

func post(ctx context.Context, url string, data []byte) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, hookAnswer))
	switch {
	case resp.StatusCode == http.StatusConflict:
		return "", condense.ErrVeto
	case resp.StatusCode/100 != 2:
		return "", fmt.Errorf("%s answers with status %d", req.URL.Redacted(), resp.StatusCode)
	}
	return strings.TrimSpace(string(answer)), err
}
