package pi

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// readOrigin reads the header. The parent session is named by its file, TIME_ID.jsonl.
func (s *session) readOrigin(f map[string]jsonValue, at time.Time) {
	o := &s.rec.Origin
	o.Project, _ = jsonspan.String(f["cwd"])
	o.Begun = at
	for _, name := range []string{"parentSession", "branchedFrom"} {
		path, ok := jsonspan.String(f[name])
		if !ok || path == "" {
			continue
		}
		base := path[strings.LastIndexAny(path, `/\`)+1:]
		base = strings.TrimSuffix(base, filepath.Ext(base))
		if _, id, ok := strings.Cut(base, "_"); ok {
			base = id
		}
		o.Parent = base
	}
}

// addUsage adds and returns the usage of a message or an entry: the request that an assistant message
// answers, models called by a tool, summaries of compactions and branches, and entries "usage" for
// other requests, such as one that keeps the prompt cache warm.
func (s *session) addUsage(raw jsonValue) (used precis.Usage) {
	if jsonspan.Kind(raw) != '{' {
		return used
	}
	f, err := jsonspan.Fields(raw)
	if err != nil || jsonspan.Kind(f["usage"]) != '{' {
		return used
	}
	model, _ := jsonspan.String(f["model"])
	n := archive.ParseCounts(f["usage"], "input", "output", "cacheRead", "cacheWrite")
	cost := 0.0
	if usage, err := jsonspan.Fields(f["usage"]); err == nil && jsonspan.Kind(usage["cost"]) == '{' {
		if c, err := jsonspan.Fields(usage["cost"]); err == nil {
			cost = archive.ParseAmount(c["total"])
		}
	}
	used = precis.Usage{Input: n[0], Output: n[1], CacheRead: n[2], CacheWrite: n[3]}
	s.rec.Origin.AddUsage(model, used, cost)
	return used
}
