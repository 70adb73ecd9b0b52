package codex

import (
	"encoding/json"
	"time"

	"precis"
	"precis/archive"
	"precis/internal/jsonspan"
)

// origin reads where the rollout comes from. A rollout of a sub-agent, or one that
// was forked, names the thread that began it.
func (r *rollout) origin(f map[string]json.RawMessage) {
	o := &r.rec.Origin
	o.Project, _ = jsonspan.String(f["cwd"])
	if at, ok := jsonspan.String(f["timestamp"]); ok {
		o.Begun, _ = time.Parse(time.RFC3339Nano, at)
	}
	o.Parent, _ = jsonspan.String(f["forked_from_id"])
	source := f["source"]
	for _, name := range []string{"subagent", "thread_spawn", "parent_thread_id"} {
		if jsonspan.Kind(source) != '{' {
			return
		}
		inner, err := jsonspan.Fields(source)
		if err != nil {
			return
		}
		source = inner[name]
	}
	if id, ok := jsonspan.String(source); ok {
		o.Parent = id
	}
}

// spent adds what was used since the event before: events carry the total so far.
func (r *rollout) spent(info json.RawMessage) {
	if jsonspan.Kind(info) != '{' {
		return
	}
	f, err := jsonspan.Fields(info)
	if err != nil {
		return
	}
	n := archive.Counts(f["total_token_usage"], "input_tokens", "output_tokens", "cached_input_tokens")
	total := precis.Usage{Input: max(0, n[0]-n[2]), Output: n[1], CacheRead: n[2]}
	was := r.total
	if total.Input < was.Input || total.Output < was.Output || total.CacheRead < was.CacheRead {
		was = precis.Usage{} // a resumed thread counts anew
	}
	r.total = total
	r.rec.Origin.Spend(r.conv.Model, precis.Usage{Input: total.Input - was.Input, Output: total.Output - was.Output, CacheRead: total.CacheRead - was.CacheRead}, 0)
}
