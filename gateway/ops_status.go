package gateway

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"precis"
)

// Status is a gateway at a glance.
type Status struct {
	Replica       string          `json:"replica"`
	Active        int             `json:"active_requests"`
	Conversations int             `json:"conversations_in_memory"` // of the owner
	Memory        Memory          `json:"memory"`
	Windows       []LearnedWindow `json:"windows_learned"`
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

// LearnedWindow is a context window that an error told.
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

// StoreInfo says what the store is and can do.
type StoreInfo struct {
	Kind   string   `json:"kind"` // its package, e.g. "sqlite"; "none"
	Shared bool     `json:"shared"`
	Can    []string `json:"can"` // of: list, search, purge, ledger, owners, leases
}

// Status returns the gateway at a glance, with the number of conversations of an
// owner.
func (g *Gateway) Status(owner string) Status {
	st := Status{Replica: g.o.Replica, Active: g.Active(), Windows: g.learnedWindows(), Upstreams: []UpstreamInfo{}, Store: g.storeInfo()}
	st.Memory.Lines, st.Memory.Bytes, st.Memory.Dropped = g.table.Size()
	st.Memory.Limit = cmp.Or(g.o.Memory, 256<<20)
	for _, l := range g.table.Lines() {
		if (owner == AllOwners || l.Owner == owner) && g.inMemory(l.Owner, l.ID) == heldOf(l) && heldOf(l) != nil {
			st.Conversations++
		}
	}
	for _, u := range g.o.Upstreams {
		speaks := u.Dialects
		if speaks == nil {
			speaks = dialects
		}
		st.Upstreams = append(st.Upstreams, UpstreamInfo{u.Name, speaks})
	}
	return st
}

func (g *Gateway) learnedWindows() []LearnedWindow {
	g.windows.mu.RLock()
	defer g.windows.mu.RUnlock()
	out := []LearnedWindow{}
	for key, tokens := range g.windows.known {
		out = append(out, LearnedWindow{key.upstream, key.model, tokens})
	}
	slices.SortFunc(out, func(a, b LearnedWindow) int {
		return cmp.Or(cmp.Compare(a.Upstream, b.Upstream), cmp.Compare(a.Model, b.Model))
	})
	return out
}

func (g *Gateway) storeInfo() StoreInfo {
	info := StoreInfo{Kind: "none", Shared: g.o.Shared, Can: []string{}}
	if g.o.Store == nil {
		return info
	}
	info.Kind, _, _ = strings.Cut(strings.TrimPrefix(fmt.Sprintf("%T", g.o.Store), "*"), ".")
	can := func(name string, has bool) {
		if has {
			info.Can = append(info.Can, name)
		}
	}
	_, list := g.o.Store.(precis.Catalog)
	_, search := g.o.Store.(precis.Searcher)
	_, purge := g.o.Store.(precis.Purger)
	_, ledger := g.o.Store.(precis.Ledger)
	_, owners := g.o.Store.(precis.Scoper)
	_, leases := g.o.Store.(precis.Leaser)
	can("list", list)
	can("search", search)
	can("purge", purge)
	can("ledger", ledger)
	can("owners", owners)
	can("leases", leases)
	return info
}

// managerNamed returns the manager of a profile; "" is the default one.
func (g *Gateway) managerNamed(profile string) (*precis.Manager, error) {
	p := g.policy.Load()
	if profile == "" {
		return p.manager, nil
	}
	if m, ok := p.profiles[profile]; ok {
		return m, nil
	}
	return nil, precis.Errorf(precis.CodeNotFound, "choose profile", "there is no profile %.60q", profile)
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
