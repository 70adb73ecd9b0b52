package sessions

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/toolcall"
)

// Sum holds the totals of some sessions.
type Sum struct {
	Name          string       `json:"name,omitempty"` // their common agent, project, month or model
	Sessions      int          `json:"sessions"`
	Messages      int          `json:"messages"`
	Tokens        int          `json:"tokens"` // of transcripts, as counted
	Requests      int          `json:"requests"`
	Usage         precis.Usage `json:"usage"` // as providers reported it
	CostUSD       float64      `json:"cost_usd"`
	Estimated     bool         `json:"cost_estimated,omitempty"`
	Condensed     int          `json:"condensed"` // sessions condensed by their program
	Condensations int          `json:"condensations"`
	Lost          int          `json:"lost"` // tokens that condensations hide
	Failures      int          `json:"failures"`
}

// ToolUse is the number of calls of a tool.
type ToolUse struct {
	Name  string `json:"name"`
	Calls int    `json:"calls"`
}

// Stats holds totals of sessions.
type Stats struct {
	Total    Sum       `json:"total"`
	Agents   []Sum     `json:"agents"` // the most tokens first
	Projects []Sum     `json:"projects"`
	Months   []Sum     `json:"months"` // oldest first, as 2006-01, in local time
	Models   []Sum     `json:"models"`
	Tools    []ToolUse `json:"tools"` // the most calls first
}

// Stats adds up the sessions that a filter selects. A session counts for the month of its last use
// and for its main model; the spending of other models counts for each of these. A request repeated
// in a fork is counted once, for the session used first. Messages and tokens of forks are counted
// in each.
func (l *Library) Stats(ctx context.Context, f Filter) (Stats, error) {
	f.Limit, f.Offset = 0, 0
	some, err := l.List(ctx, f)
	if err != nil {
		return Stats{}, err
	}
	if err := l.spendOnce(ctx, some); err != nil {
		return Stats{}, err
	}
	var out Stats
	agents, projects, months, models := sums{}, sums{}, sums{}, sums{}
	tools := map[string]int{}
	for _, s := range some {
		out.Total.add(s)
		agents.of(s.Agent).add(s)
		projects.at(toolcall.FileKey(strings.ReplaceAll(s.Project, `\`, "/")), s.Project).add(s)
		months.of(s.used().Local().Format("2006-01")).add(s) // local, as the days of a filter
		models.split(s, l.read)
		for name, n := range s.Tools {
			tools[name] += n
		}
	}
	out.Agents, out.Projects, out.Models = agents.largest(), projects.largest(), models.largest()
	out.Months = slices.SortedFunc(maps.Values(months),
		func(a, b Sum) int { return cmp.Compare(a.Name, b.Name) })
	for name, n := range tools {
		out.Tools = append(out.Tools, ToolUse{Name: name, Calls: n})
	}
	slices.SortFunc(out.Tools, func(a, b ToolUse) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls),
			cmp.Compare(a.Name, b.Name))
	})
	return out, nil
}

func (t *Sum) add(s *Session) {
	t.Sessions++
	t.Messages += s.Messages
	t.Tokens += s.Tokens
	t.Failures += s.Failures
	t.Condensations += s.Condensations
	t.Lost += s.Lost
	if s.Condensations > 0 {
		t.Condensed++
	}
	t.CostUSD += s.Cost
	t.Estimated = t.Estimated || s.Estimated
	for _, sp := range s.Spent {
		t.spend(sp)
	}
}

func (t *Sum) spend(sp archive.ModelUsage) {
	t.Requests += sp.Requests
	t.Usage.Add(sp.Usage)
}

// sums are sums by name.
type sums map[string]Sum

// adder adds sessions to one sum of a map.
type adder struct {
	in        sums
	key, name string
}

func (s sums) of(name string) adder { return s.at(name, name) }

// at returns the adder for a key. The first name given for the key is kept.
func (s sums) at(key, name string) adder { return adder{in: s, key: key, name: name} }

func (a adder) add(s *Session) {
	t := a.in[a.key]
	t.Name = cmp.Or(t.Name, a.name)
	t.add(s)
	a.in[a.key] = t
}

// split counts a session for its main model, and the spending of other models for each of them.
func (s sums) split(one *Session, r reader) {
	main := *one
	main.Spent = nil
	for _, sp := range one.Spent {
		name := cmp.Or(sp.Model, one.Model)
		if name == one.Model {
			main.Spent = append(main.Spent, sp)
			continue
		}
		t := s[name]
		t.Name = name
		t.spend(sp)
		usd, estimated := r.cost(sp, one.Model)
		t.CostUSD += usd
		t.Estimated = t.Estimated || estimated
		main.Cost = max(0, main.Cost-usd)
		s[name] = t
	}
	s.of(one.Model).add(&main)
}

// largest returns the sums, most tokens first.
func (s sums) largest() []Sum {
	return slices.SortedFunc(maps.Values(s),
		func(a, b Sum) int { return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(a.Name, b.Name)) })
}
