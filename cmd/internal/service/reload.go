package service

import (
	"context"
	"maps"
	"os"
	"strings"
	"time"

	"github.com/precis-dev/precis/cmd/internal/config"
)

// Reload reads the configuration again. Settings, profiles, hooks, the summarizer, keys, hosts, the
// window and the retention apply from the next request on. It returns the changed keys that need a
// restart of the gateway. On error the old configuration stays in force.
func (s *Service) Reload(context.Context) (restart []string, err error) {
	if s.p.Reload == nil {
		return nil, nil
	}
	s.files.mu.Lock()
	defer s.files.mu.Unlock()
	c, err := s.p.Reload()
	if err != nil {
		return nil, err
	}
	defer func() { err = c.Blame(err) }()
	m, err := s.managers(c)
	if err != nil {
		return nil, err
	}
	old := s.config()
	if (c.Gateway.KeysFile == "") == s.keys.asks {
		restart = append(restart, "gateway.keys_file")
	} else if s.keys.asks {
		keys, err := ReadKeys(c.Gateway.KeysFile)
		if err != nil {
			return nil, err
		}
		s.Gateway.SetAdmins(keys.Admins)
		s.admins.Store(len(keys.Admins) > 0)
		s.keys.replace(keys.Owners, keys.Admins)
	}
	s.cfg.Store(c)
	s.useConfigs(m.configs)
	s.Gateway.Profiles().Replace(m.manager, m.profiles)
	return append(restart, needRestart(old, c)...), nil
}

// changeable are keys outside the settings that take effect at once.
var changeable = map[string]bool{
	"gateway.keys_file": true, "gateway.hosts": true, "gateway.profiles": true,
	"gateway.retention_days": true, "gateway.drain": true,
}

// needRestart returns the keys of the settings that differ in two configurations and need a restart.
func needRestart(old, now *config.Config) []string {
	var out []string
	was := map[string]string{}
	for _, r := range old.Rows() {
		was[r.Key] = r.Value
	}
	for _, r := range now.Rows() {
		needs := strings.HasPrefix(r.Key, "gateway.") && !changeable[r.Key] || r.Key == "models_file" ||
			r.Key == "estimate"
		if needs && was[r.Key] != r.Value {
			out = append(out, r.Key)
		}
	}
	return out
}

// reload reloads the configuration and logs the result.
func (s *Service) reload(ctx context.Context) {
	restart, err := s.Reload(ctx)
	if err != nil {
		s.p.Logger.ErrorContext(ctx, "the configuration stays as it was", "error", err)
		return
	}
	s.p.Logger.InfoContext(ctx, "the configuration was read again")
	if len(restart) > 0 {
		s.p.Logger.WarnContext(ctx, "a change needs the gateway to begin again", "keys",
			strings.Join(restart, ", "))
	}
}

// startJobs runs the gateway's background jobs until ctx ends. The returned function waits for
// them.
func (s *Service) startJobs(ctx context.Context) (wait func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{}, 2)
	go func() { s.watchFiles(ctx); done <- struct{}{} }()
	go func() { s.purgePeriodically(ctx); done <- struct{}{} }()
	return func() { cancel(); <-done; <-done }
}

// lookEvery is how often files are checked.
const lookEvery = 2 * time.Second

// watchFiles reloads on a signal and when a file of the configuration changes.
func (s *Service) watchFiles(ctx context.Context) {
	if s.p.Reload == nil {
		return
	}
	signals, stop := reloadSignals()
	defer stop()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	s.changed()
	for {
		select {
		case <-ctx.Done():
			return
		case <-signals:
		case <-tick.C:
			if !s.changed() {
				continue
			}
		}
		s.reload(ctx)
		s.watchNewFiles()
	}
}

// watchNewFiles starts to watch files that have become part of the configuration. Changes to others since
// they were read will still be noticed.
func (s *Service) watchNewFiles() {
	s.files.mu.Lock()
	defer s.files.mu.Unlock()
	now := s.times()
	for path, at := range now {
		if was, ok := s.files.modTimes[path]; ok {
			at = was
		}
		now[path] = at
	}
	s.files.modTimes = now
}

// changed reports whether a file of the configuration has changed since the last call, other than
// by this process.
func (s *Service) changed() bool {
	s.files.mu.Lock()
	defer s.files.mu.Unlock()
	now := s.times()
	same := maps.Equal(now, s.files.modTimes)
	s.files.modTimes = now
	return !same
}

// times returns the modification times of the configuration files, by path.
func (s *Service) times() map[string]time.Time {
	c := s.config()
	paths := []string{c.File, c.Folder, c.Gateway.KeysFile, c.Summarizer.PromptFile, c.Summarizer.RulesFile}
	for _, item := range c.Gateway.Profiles {
		_, path, _ := strings.Cut(item, "=")
		paths = append(paths, path)
	}
	out := map[string]time.Time{}
	for _, path := range paths {
		if info, err := os.Stat(path); path != "" && err == nil {
			out[path] = info.ModTime()
		}
	}
	return out
}

// forgetEvery is how often old conversations are purged.
const forgetEvery = time.Hour

// withoutBodies is how long conversations without stored content are kept, if no retention is
// configured.
const withoutBodies = 24 * time.Hour

// purgePeriodically purges old conversations periodically.
func (s *Service) purgePeriodically(ctx context.Context) {
	tick := time.NewTicker(forgetEvery)
	defer tick.Stop()
	for {
		s.Forget(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Forget purges the conversations with a last request before gateway.retention_days.
func (s *Service) Forget(ctx context.Context) {
	g := s.config().Gateway
	keep := time.Duration(g.Retention) * 24 * time.Hour
	if keep == 0 && (!g.Bodies || g.Store == config.Memory) {
		keep = withoutBodies
	}
	if keep == 0 {
		return
	}
	res, err := s.Gateway.Homes().Forget(ctx, time.Now().Add(-keep), forgetEvery)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.p.Logger.WarnContext(ctx, "old conversations are not forgotten yet", "error", err)
	case res.Conversations > 0:
		s.p.Logger.InfoContext(ctx, "old conversations are forgotten", "conversations", res.Conversations,
			"messages", res.Messages)
	}
}
