package registry

import (
	"fmt"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

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

// StoreInfo describes the store, with the condition that a fill level has.
func (r *Registry) StoreInfo(s Stats) StoreInfo {
	info := StoreInfo{
		Kind: "none", Shared: r.o.Shared, Can: []string{},
		Waiting: StoreWaiting{Conversations: s.Waiting, Bytes: s.WaitingBytes, Edits: s.Unrecorded,
			LedgerLines: s.WaitingLines},
		Lost:    StoreLost{Conversations: s.Unsaved, LedgerLines: s.Lost},
		Failing: s.Outage.Since, Failed: s.Outage.Last,
	}
	if r.o.Store == nil {
		return info
	}
	info.Kind, _, _ = strings.Cut(strings.TrimPrefix(fmt.Sprintf("%T", r.o.Store), "*"), ".")
	can := func(name string, has bool) {
		if has {
			info.Can = append(info.Can, name)
		}
	}
	_, list := r.o.Store.(store.Lister)
	_, search := r.o.Store.(store.Searcher)
	_, purge := r.o.Store.(store.Purger)
	_, ledger := r.o.Store.(precis.Ledger)
	_, owners := r.o.Store.(store.Scoper)
	_, leases := r.o.Store.(store.Leaser)
	can("list", list)
	can("search", search)
	can("purge", purge)
	can("ledger", ledger)
	can("owners", owners)
	can("leases", leases)
	return info
}
