package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"precis/cmd/internal/config"
	"precis/condense"
)

// Hooks are given the event as JSON on standard input. What they print counts;
// one that exits with vetoCode forbids the condensation.
const (
	vetoCode    = 10
	hookTimeout = 30 * time.Second
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

func hook(line string) func(context.Context, condense.HookEvent) (string, error) {
	return func(ctx context.Context, e condense.HookEvent) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, hookTimeout)
		defer cancel()
		event, err := json.Marshal(e)
		if err != nil {
			return "", err
		}
		cmd := exec.CommandContext(ctx, "sh", "-c", line)
		cmd.Stdin = bytes.NewReader(event)
		cmd.WaitDelay = time.Second
		out, err := cmd.Output()
		var exit *exec.ExitError
		switch {
		case errors.As(err, &exit) && exit.ExitCode() == vetoCode:
			return "", condense.ErrVeto
		case err != nil:
			return "", fmt.Errorf("%s: %w", line, err)
		}
		return strings.TrimSpace(string(out)), nil
	}
}
