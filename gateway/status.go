package gateway

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway/intent"
	"github.com/precis-dev/precis/gateway/registry"
	"github.com/precis-dev/precis/gateway/upstream"
	"github.com/precis-dev/precis/store"
)

// Status is an overview of a gateway.
type Status struct {
	Replica       string          `json:"replica"`
	Active        int             `json:"active_requests"`
	Conversations int             `json:"conversations_in_memory"` // of the owner
	Memory        Memory          `json:"memory"`
	Windows       []LearnedWindow `json:"windows_learned"` // of the owner
	Upstreams     []UpstreamInfo  `json:"upstreams"`
	Store         StoreInfo       `json:"store"`
}

// Memory is the memory used by the conversations of all owners.
type Memory struct {
	Lines   int `json:"lines"`   // lines of conversations
	Bytes   int `json:"bytes"`   // roughly
	Limit   int `json:"limit"`   // bytes
	Dropped int `json:"dropped"` // lines evicted to make room
}

// LearnedWindow is a context window derived from provider errors that are still valid evidence.
// [Gateway.Windows] has the evidence.
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

// StoreInfo describes the store, its features and its condition.
type StoreInfo struct {
	Kind    string       `json:"kind"` // its package, e.g. "sqlite"; "none"
	Shared  bool         `json:"shared"`
	Can     []string     `json:"can"` // of: list, search, purge, ledger, owners, leases
	Waiting StoreWaiting `json:"waiting"`
	Lost    StoreLost    `json:"lost"`
	// since when it does not keep new data; absent: it works
	Failing time.Time `json:"failing_since,omitzero"`
	Failed  time.Time `json:"last_error,omitzero"` // when it last failed; absent: never
}

// StoreWaiting is the data of all owners that waits to be stored.
type StoreWaiting struct {
	Conversations int `json:"conversations"`
	Bytes         int `json:"bytes"` // of their messages, roughly
	Edits         int `json:"edits"` // in force, but not recorded yet
	LedgerLines   int `json:"ledger_lines"`
}

// StoreLost is the data that was dropped unstored for lack of room.
type StoreLost struct {
	Conversations int `json:"conversations"` // with new messages; clients send them again
	LedgerLines   int `json:"ledger_lines"`
}

// Status returns an overview of the gateway, with the number of conversations of an owner.
func (g *Gateway) Status(owner string) Status {
	stats := g.conversations.Stats()
	st := Status{Replica: g.o.Replica, Active: g.Active(), Windows: g.learnedWindows(owner),
		Upstreams: []UpstreamInfo{}, Store: g.storeInfo(stats)}
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

func (g *Gateway) storeInfo(s registry.Stats) StoreInfo {
	info := StoreInfo{
		Kind: "none", Shared: g.o.Shared, Can: []string{},
		Waiting: StoreWaiting{Conversations: s.Waiting, Bytes: s.WaitingBytes, Edits: s.Unrecorded,
			LedgerLines: s.WaitingLines},
		Lost:    StoreLost{Conversations: s.Unsaved, LedgerLines: s.Lost},
		Failing: s.Outage.Since, Failed: s.Outage.Last,
	}
	if g.o.Store == nil {
		return info
	}
	info.Kind, _, _ = strings.Cut(strings.TrimPrefix(fmt.Sprintf("%T", g.o.Store), "*"), ".")
	can := func(name string, has bool) {
		if has {
			info.Can = append(info.Can, name)
		}
	}
	_, list := g.o.Store.(store.Lister)
	_, search := g.o.Store.(store.Searcher)
	_, purge := g.o.Store.(store.Purger)
	_, ledger := g.o.Store.(precis.Ledger)
	_, owners := g.o.Store.(store.Scoper)
	_, leases := g.o.Store.(store.Leaser)
	can("list", list)
	can("search", search)
	can("purge", purge)
	can("ledger", ledger)
	can("owners", owners)
	can("leases", leases)
	return info
}

// modelRungs are the names of the rungs that have a model write a summary.
var modelRungs = []string{condense.Full{}.Name(), condense.Selective{}.Name()}

// condenseError names why a condensation failed: the error of the run, else the first summary of a
// model that failed or was refused. "" on success, and when the client has left.
func condenseError(steps []precis.Step, err error) string {
	if code := precis.CodeOf(err); code != "" && code != precis.CodeCanceled {
		return string(code)
	}
	for _, s := range steps {
		if (s.Outcome == precis.OutcomeFailed || s.Outcome == precis.OutcomeRefused) &&
			slices.Contains(modelRungs, s.Rung) {
			return condense.ErrorName(s.Code)
		}
	}
	return ""
}

// warn computes how full the window is with the view, whether the warn level is crossed, and
// whether a condensation failed. The conversation is locked.
func (j *planner) warn() {
	r := j.result.Report
	if r.Counter == "" {
		return // it was not measured
	}
	j.outlook = conversation.OutlookAfter(j.work, j.req.Meter, j.mgr.Settings(), j.req.Profile, r)
	j.failed = cmp.Or(condenseError(r.Steps, nil), j.failed)
	if j.recordsEdits && j.assembly == nil && j.Work == intent.Turn {
		j.warned = j.outlook.Near && (j.warned || !j.conv.Near)
		j.conv.Near = j.outlook.Near
	}
}
