package host

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/precis-dev/precis"
)

// trustTime is the longest time for an answer by Codex.
const trustTime = 20 * time.Second

// codexHook is a hook in Codex's list.
type codexHook struct {
	Key     string `json:"key"`
	Hash    string `json:"currentHash"`
	Trust   string `json:"trustStatus"` // trusted, untrusted, modified, managed
	Command string `json:"command"`
}

// TrustCodex marks precis's hook as trusted in Codex through its app server, like Codex's own
// dialog. On an error the hook is still installed.
func TrustCodex(ctx context.Context, m Machine) error {
	return withCodex(ctx, m, func(s *appServer) error {
		hooks, err := s.hooks(m)
		if err != nil {
			return err
		}
		value := map[string]any{}
		for _, h := range hooks {
			value[h.Key] = map[string]string{"trusted_hash": h.Hash}
		}
		if len(value) == 0 {
			return errors.New("the hook is not in Codex's list")
		}
		edit := map[string]any{"keyPath": "hooks.state", "value": value, "mergeStrategy": "upsert"}
		return s.call("config/batchWrite", map[string]any{"edits": []any{edit}}, nil)
	})
}

// CodexTrusts reports whether Codex trusts precis's hook.
func CodexTrusts(ctx context.Context, m Machine) (trusted bool, err error) {
	err = withCodex(ctx, m, func(s *appServer) error {
		hooks, err := s.hooks(m)
		for _, h := range hooks {
			trusted = h.Trust == "trusted"
		}
		return err
	})
	return trusted, err
}

// withCodex runs Codex's app server and calls f.
func withCodex(ctx context.Context, m Machine, f func(*appServer) error) error {
	fail := func(err error) error {
		return &precis.Error{Code: precis.CodeUpstream, Op: "ask Codex", Err: err,
			Hint: "open codex and type /hooks"}
	}
	find := m.Find
	if find == nil {
		find = exec.LookPath
	}
	path, err := find("codex")
	if err != nil {
		return fail(err)
	}
	ctx, cancel := context.WithTimeout(ctx, trustTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "app-server")
	cmd.Dir, cmd.WaitDelay = m.Home, time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return fail(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fail(err)
	}
	if err := cmd.Start(); err != nil {
		return fail(err)
	}
	s := &appServer{in: in, out: bufio.NewReader(out)}
	err = s.call("initialize", map[string]any{"clientInfo": map[string]string{"name": "precis",
		"title": "precis", "version": m.Version}}, nil)
	if err == nil {
		err = s.send(map[string]any{"method": "initialized"})
	}
	if err == nil {
		err = f(s)
	}
	in.Close()
	cancel()
	_ = cmd.Wait() // its input was closed, so it ends
	if err != nil {
		return fail(err)
	}
	return nil
}

// appServer is Codex's app server: JSON-RPC with one message per line.
type appServer struct {
	in  io.Writer
	out *bufio.Reader
	id  int
}

func (s *appServer) send(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = s.in.Write(append(data, '\n'))
	return err
}

// call calls a method and reads its result. It skips messages of other kinds.
func (s *appServer) call(method string, params, result any) error {
	s.id++
	if err := s.send(map[string]any{"id": s.id, "method": method, "params": params}); err != nil {
		return err
	}
	for {
		line, err := s.out.ReadBytes('\n')
		if err != nil {
			return err
		}
		var answer struct {
			ID     *int            `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if json.Unmarshal(line, &answer) != nil || answer.ID == nil || *answer.ID != s.id {
			continue
		}
		if answer.Error != nil {
			return fmt.Errorf("%s: %s", method, answer.Error.Message)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(answer.Result, result)
	}
}

// hooks lists precis's hooks.
func (s *appServer) hooks(m Machine) (out []codexHook, err error) {
	var result struct {
		Data []struct {
			Hooks []codexHook `json:"hooks"`
		} `json:"data"`
	}
	if err := s.call("hooks/list", map[string]any{"cwds": []string{m.Home}}, &result); err != nil {
		return nil, err
	}
	for _, d := range result.Data {
		for _, h := range d.Hooks {
			if isOurHook(h.Command, "codex") {
				out = append(out, h)
			}
		}
	}
	return out, nil
}

// forgetTrust returns Codex's settings without its trust in precis's hooks, the tables
// [hooks.state."KEY"]. A KEY is the path of the hooks file, the event, and the indexes of the group
// and of the hook. Was is the file before precis.
func forgetTrust(config, was []byte, hooksFile string) []byte {
	keys := hookKeys(hooksFile)
	if len(keys) == 0 {
		return config
	}
	var out []byte
	skip, from, to := false, -1, -1 // [from,to) is the table hooks.state in out; to is -1 until its end
	empty := true
	for line := range bytes.Lines(config) {
		text := strings.TrimSpace(string(line))
		if strings.HasPrefix(text, "[") {
			if from >= 0 && to < 0 {
				to = len(out)
			}
			skip = slices.ContainsFunc(keys, func(key string) bool {
				return text == "[hooks.state."+strconv.Quote(key)+"]" || text == "[hooks.state.'"+key+"']"
			})
			if text == "[hooks.state]" {
				from, to = len(out), -1
			}
		} else if from >= 0 && to < 0 && text != "" {
			empty = false
		}
		if !skip {
			out = append(out, line...)
		}
	}
	if to < 0 {
		to = len(out)
	}
	if from >= 0 && empty && len(out) < len(config) && !bytes.Contains(out, []byte("[hooks.state.")) &&
		!bytes.Contains(was, []byte("[hooks.state]")) {
		out = slices.Delete(out, from, to) // Codex made the table for this trust
	}
	return out
}

// hookKeys returns Codex's keys of precis's hooks in a file.
func hookKeys(path string) (keys []string) {
	var events map[string][]struct {
		Hooks []struct {
			Command string `json:"command"`
		} `json:"hooks"`
	}
	if json.Unmarshal(readSetting(path, "hooks"), &events) != nil {
		return nil
	}
	for event, groups := range events {
		for g, group := range groups {
			for n, h := range group.Hooks {
				if !isOurHook(h.Command, "codex") {
					continue
				}
				for _, p := range slices.Compact([]string{path, resolveLinks(path)}) {
					keys = append(keys, fmt.Sprintf("%s:%s:%d:%d", p, snake(event), g, n))
				}
			}
		}
	}
	return keys
}

// snake writes a name such as SessionStart as session_start.
func snake(name string) string {
	var out strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}
