package gateway

import (
	"cmp"
	"context"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway/intent"
	"github.com/precis-dev/precis/gateway/registry"
	"github.com/precis-dev/precis/gateway/upstream"
)

// Status is an overview of a gateway.
type Status struct {
	Replica       string             `json:"replica"`
	Active        int                `json:"active_requests"`
	Conversations int                `json:"conversations_in_memory"` // of the owner
	Memory        Memory             `json:"memory"`
	Windows       []LearnedWindow    `json:"windows_learned"` // of the owner
	Upstreams     []UpstreamInfo     `json:"upstreams"`
	Store         registry.StoreInfo `json:"store"`
}

// Memory is the memory used by the conversations of all owners.
type Memory struct {
	Lines   int `json:"lines"`   // lines of conversations
	Bytes   int `json:"bytes"`   // roughly
	Limit   int `json:"limit"`   // bytes
	Dropped int `json:"dropped"` // lines evicted to make room
}

// LearnedWindow is a context window derived from provider errors that are still valid evidence.
// [windows.Book.List] has the evidence.
type LearnedWindow struct {
	Upstream string `json:"upstream"`
	Model    string `json:"model"`
	Tokens   int    `json:"tokens"`
}

// UpstreamInfo describes a model API that the gateway forwards to.
type UpstreamInfo struct {
	Name     string   `json:"name"`
	Dialects []string `json:"dialects"`
}

// Status returns an overview of the gateway, with the number of conversations of an owner.
func (g *Gateway) Status(owner string) Status {
	stats := g.conversations.Stats()
	st := Status{Replica: g.o.Replica, Active: g.Active(), Windows: g.learnedWindows(owner),
		Upstreams: []UpstreamInfo{}, Store: g.conversations.StoreInfo(stats)}
	st.Memory.Lines, st.Memory.Bytes, st.Memory.Dropped = stats.Lines, stats.Bytes, stats.Dropped
	st.Memory.Limit = cmp.Or(g.o.Memory, 256<<20)
	st.Conversations = len(g.conversations.All(owner))
	for _, u := range g.o.Upstreams {
		speaks := u.Dialects
		if speaks == nil {
			speaks = upstream.Dialects
		}
		st.Upstreams = append(st.Upstreams, UpstreamInfo{u.Name, speaks})
	}
	return st
}

// learnedWindows returns an owner's windows that were derived from errors which are still valid
// evidence.
func (g *Gateway) learnedWindows(owner string) []LearnedWindow {
	out := []LearnedWindow{}
	for _, known := range g.windows.List(context.Background(), owner) {
		if known.Window.Source == precis.SourceLearned {
			out = append(out, LearnedWindow{known.Upstream, known.Model, known.Window.Tokens})
		}
	}
	return out
}

// warn computes how full the window is with the view, whether the warn level is crossed, and
// whether a condensation failed. The conversation is locked.
func (j *planner) warn() {
	r := j.result.Report
	if r.Counter == "" {
		return // it was not measured
	}
	j.outlook = conversation.OutlookAfter(j.work, j.req.Meter, j.mgr.Settings(), j.req.Profile, r)
	j.failed = cmp.Or(condense.Failure(r.Steps, nil), j.failed)
	if j.recordsEdits && j.assembly == nil && j.Work == intent.Turn {
		j.warned = j.outlook.Near && (j.warned || !j.conv.Near)
		j.conv.Near = j.outlook.Near
	}
}
