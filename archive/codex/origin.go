package codex

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// origin reads the origin of the rollout. A rollout of a sub-agent or a fork names its parent
// thread.
func (r *rollout) origin(f map[string]json.RawMessage) {
	o := &r.rec.Origin
	o.Project, _ = jsonspan.String(f["cwd"])
	if at, ok := jsonspan.String(f["timestamp"]); ok {
		o.Begun, _ = time.Parse(time.RFC3339Nano, at)
	}
	o.Parent = parentOf(f)
}

// parentOf returns the ID of the parent thread in a header; "" if it has none.
func parentOf(f map[string]json.RawMessage) string {
	source := f["source"]
	for _, name := range []string{"subagent", "thread_spawn", "parent_thread_id"} {
		if jsonspan.Kind(source) != '{' {
			break
		}
		inner, err := jsonspan.Fields(source)
		if err != nil {
			break
		}
		source = inner[name]
	}
	if id, ok := jsonspan.String(source); ok && jsonspan.Kind(f["source"]) == '{' {
		return id
	}
	forked, _ := jsonspan.String(f["forked_from_id"])
	return forked
}

// descends reads a header: of the rollout itself, or of an ancestor that it repeats. root becomes
// the thread that wrote the first of the repeated lines.
func (r *rollout) descends(f map[string]json.RawMessage) {
	if r.total != (precis.Usage{}) {
		return
	}
	id, _ := jsonspan.String(f["id"])
	forked, _ := jsonspan.String(f["forked_from_id"])
	if r.conv.ID == "" || id != r.conv.ID {
		r.root = cmp.Or(forked, id)
	}
}

// addUsage adds the usage since the last event: events contain running totals. A fork, or a
// sub-agent that received the conversation, repeats the events of its parent, and the totals
// continue from there. If it does not repeat them, only its last request counts at the first
// event.
func (r *rollout) addUsage(info json.RawMessage) {
	if jsonspan.Kind(info) != '{' {
		return
	}
	f, err := jsonspan.Fields(info)
	if err != nil {
		return
	}
	total, was := usageOf(f["total_token_usage"]), r.total
	if total.Input < was.Input || total.Output < was.Output || total.CacheRead < was.CacheRead {
		was = precis.Usage{} // a resumed thread restarts the totals
	}
	first := r.total == (precis.Usage{})
	r.total = total
	used := minus(total, was)
	if last := usageOf(f["last_token_usage"]); first && r.rec.Origin.Parent != "" &&
		last != (precis.Usage{}) {
		used = last
	}
	if used == (precis.Usage{}) {
		return
	}
	r.rec.Origin.AddUsage(r.conv.Model, used, 0)
	r.rec.Origin.RecordAnswered(r.conv, usageOf(f["last_token_usage"]))
	r.chain = sha256.Sum256(fmt.Appendf(nil, "%x %s %d %d %d", r.chain, r.root, total.Input, total.Output,
		total.CacheRead))
	r.rec.Origin.Requests = append(r.rec.Origin.Requests,
		archive.Request{ID: hex.EncodeToString(r.chain[:12]), Model: r.conv.Model, Usage: used})
}

func usageOf(raw json.RawMessage) precis.Usage {
	n := archive.ParseCounts(raw, "input_tokens", "output_tokens", "cached_input_tokens")
	return precis.Usage{Input: max(0, n[0]-n[2]), Output: n[1], CacheRead: n[2]}
}

func minus(a, b precis.Usage) precis.Usage {
	return precis.Usage{Input: a.Input - b.Input, Output: a.Output - b.Output,
		CacheRead: a.CacheRead - b.CacheRead}
}
