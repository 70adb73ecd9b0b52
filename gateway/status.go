package gateway

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"precis"
	"precis/condense"
	"precis/conversation"
	"precis/gateway/registry"
	"precis/store"
)

// Status is a gateway at a glance.
type Status struct {
	Replica       string          `json:"replica"`
	Active        int             `json:"active_requests"`
	Conversations int             `json:"conversations_in_memory"` // of the owner
	Memory        Memory          `json:"memory"`
	Windows       []LearnedWindow `json:"windows_learned"` // likewise
	Upstreams     []UpstreamInfo  `json:"upstreams"`
	Store         StoreInfo       `json:"store"`
}

// Memory is what the conversations of all owners use.
type Memory struct {
	Lines   int `json:"lines"`   // ways through conversations
	Bytes   int `json:"bytes"`   // about
	Limit   int `json:"limit"`   // bytes
	Dropped int `json:"dropped"` // lines that had to go
}

// LearnedWindow is a context window that errors of the provider led to, as far as it
// counts now. [Gateway.Windows] has the evidence.
type LearnedWindow struct {
	Upstream string `json:"upstream"`
	Model    string `json:"model"`
	Tokens   int    `json:"tokens"`
}

// UpstreamInfo is a model API behind the gateway.
type UpstreamInfo struct {
	Name     string   `json:"name"`
	Dialects []string `json:"dialects"`
}

// StoreInfo says what the store is and can do, and how it fares.
type StoreInfo struct {
	Kind    string       `json:"kind"` // its package, e.g. "sqlite"; "none"
	Shared  bool         `json:"shared"`
	Can     []string     `json:"can"` // of: list, search, purge, ledger, owners, leases
	Waiting StoreWaiting `json:"waiting"`
	Lost    StoreLost    `json:"lost"`
	Failing time.Time    `json:"failing_since,omitzero"` // since when it does not keep what is new; absent: it does
	Failed  time.Time    `json:"last_error,omitzero"`    // when it last failed; absent: never
}

// StoreWaiting is what waits to be stored, of all owners.
type StoreWaiting struct {
	Conversations int `json:"conversations"`
	Bytes         int `json:"bytes"` // of their messages, about
	Edits         int `json:"edits"` // in force, and not recorded yet
	LedgerLines   int `json:"ledger_lines"`
}

// StoreLost is what was not stored, since there was no room for it any more.
type StoreLost struct {
	Conversations int `json:"conversations"` // what was new of them; clients send it again
	LedgerLines   int `json:"ledger_lines"`
}

// Status returns the gateway at a glance, with the number of conversations of an
// owner.
func (g *Gateway) Status(owner string) Status {
	stats := g.conversations.Stats()
	st := Status{Replica: g.o.Replica, Active: g.Active(), Windows: g.windows.learned(owner), Upstreams: []UpstreamInfo{}, Store: g.storeInfo(stats)}
	st.Memory.Lines, st.Memory.Bytes, st.Memory.Dropped = stats.Lines, stats.Bytes, stats.Dropped
	st.Memory.Limit = cmp.Or(g.o.Memory, 256<<20)
	st.Conversations = len(g.conversations.All(owner))
	for _, u := range g.o.Upstreams {
		speaks := u.Dialects
		if speaks == nil {
			speaks = dialects
		}
		st.Upstreams = append(st.Upstreams, UpstreamInfo{u.Name, speaks})
	}
	return st
}

func (g *Gateway) storeInfo(s registry.Stats) StoreInfo {
	info := StoreInfo{
		Kind: "none", Shared: g.o.Shared, Can: []string{},
		Waiting: StoreWaiting{Conversations: s.Waiting, Bytes: s.WaitingBytes, Edits: s.Unrecorded, LedgerLines: s.WaitingLines},
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

// ProfileInfo is a profile that requests can ask for. The name of the default one
// is "".
type ProfileInfo struct {
	Name    string   `json:"name"`
	Preset  string   `json:"preset"`
	Percent float64  `json:"percent"`
	Auto    bool     `json:"auto"`
	Rungs   []string `json:"rungs,omitempty"` // absent: all
}

// ProfileList are the profiles of a gateway, the default one first.
type ProfileList struct {
	Items []ProfileInfo `json:"items"`
}

// Profiles lists the profiles.
func (g *Gateway) Profiles() ProfileList {
	p := g.policy.Load()
	info := func(name string, m *precis.Manager) ProfileInfo {
		s := m.Settings()
		return ProfileInfo{Name: name, Preset: s.Preset, Percent: s.Percent, Auto: s.Auto, Rungs: s.Rungs}
	}
	out := ProfileList{Items: []ProfileInfo{info("", p.manager)}}
	for _, name := range slices.Sorted(maps.Keys(p.profiles)) {
		out.Items = append(out.Items, info(name, p.profiles[name]))
	}
	return out
}

// modelRungs are the names of the rungs by which a model writes a summary.
var modelRungs = []string{condense.Full{}.Name(), condense.Selective{}.Name()}

// condenseError names what went wrong when a conversation was condensed: the error of
// the run, else the first summary of a model that failed or was refused. "" when none did,
// and when the client has left.
func condenseError(steps []precis.Step, err error) string {
	if code := precis.CodeOf(err); code != "" && code != precis.CodeCanceled {
		return string(code)
	}
	for _, s := range steps {
		if (s.Outcome == precis.OutcomeFailed || s.Outcome == precis.OutcomeRefused) && slices.Contains(modelRungs, s.Rung) {
			return condense.ErrorName(s.Code)
		}
	}
	return ""
}

// warn works out how full the window is with the view, whether the warn level is crossed
// with it, and whether a condensation failed on the way. The conversation is locked.
func (j *planner) warn() {
	r := j.result.Report
	if r.Counter == "" {
		return // it was not looked at
	}
	j.outlook = conversation.OutlookAfter(j.work, j.req.Meter, j.mgr.Settings(), j.req.Profile, r)
	j.failed = cmp.Or(condenseError(r.Steps, nil), j.failed)
	if j.own && j.assembly == nil && j.route.work == workTurn {
		j.warned = j.outlook.Near && (j.warned || !j.conv.Near)
		j.conv.Near = j.outlook.Near
	}
}
