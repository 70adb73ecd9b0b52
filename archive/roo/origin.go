package roo

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/lazyregexp"
)

// workspace finds the folder in the environment details that these programs append to user
// messages.
var workspace = lazyregexp.New(`(?m)^# Current (?:Workspace|Working) Directory \(([^)\n]+)\)`)

// programs are the extensions that keep such tasks, by the name of their folder.
var programs = map[string]string{
	"rooveterinaryinc.roo-cline": "roo", "saoudrizwan.claude-dev": "cline", "kilocode.kilo-code": "kilo",
	"zoocodeorganization.zoo-code": "zoo",
}

// origin collects the task's origin and usage. Usage comes from the UI messages, or from the
// task's item when they record no request.
func (t *Task) origin(rec *archive.Recording) {
	o := &rec.Origin
	o.Agent, o.Parent, o.Project, o.State = t.agent(), t.item.Parent, t.item.Workspace, t.item.Status
	if o.Project == "" {
		o.Project = folder(rec.Conversation.Transcript)
	}
	if t.History.Len() > 0 && t.History.entries[0].ts > 0 {
		o.Begun = time.UnixMilli(int64(t.History.entries[0].ts)).UTC()
	}
	u, requests := t.UI.Usage(), 0
	for _, r := range t.UI.requests() {
		if r.condense == nil {
			requests++
		}
	}
	if all := t.UI.requests(); len(all) > 0 {
		o.RecordAnswered(rec.Conversation, all[len(all)-1].inputUsage())
	}
	if requests == 0 {
		u = TokenUsage{In: t.item.In, Out: t.item.Out, CacheReads: t.item.Reads, CacheWrites: t.item.Writes,
			Cost: t.item.Cost}
	}
	used := precis.Usage{Input: max(0, u.In-u.CacheReads-u.CacheWrites), Output: u.Out,
		CacheRead: u.CacheReads, CacheWrite: u.CacheWrites}
	o.AddUsage(rec.Conversation.Model, used, u.Cost)
	if len(o.Spent) > 0 && requests > 0 {
		o.Spent[0].Requests = requests
	}
}

// agent returns the program that wrote the task: by the extension's folder in the path, else
// "cline" if no message has a time, since only Cline omits them.
func (t *Task) agent() string {
	path := t.Path
	if abs, err := filepath.Abs(path); err == nil {
		path = abs // a relative path may lack the extension's folder
	}
	for _, name := range strings.Split(filepath.ToSlash(path), "/") {
		if agent := programs[strings.ToLower(name)]; agent != "" {
			return agent
		}
	}
	for _, e := range t.History.entries {
		if e.hasTS {
			return ""
		}
	}
	return "cline"
}

// folder returns the working folder that the newest details name.
func folder(said *precis.Transcript) string {
	for i := said.Len() - 1; i >= 0; i-- {
		m := said.At(i)
		if m.Role != precis.RoleUser {
			continue
		}
		for _, b := range m.Content {
			if b, ok := b.(precis.Text); ok {
				if found := workspace.FindStringSubmatch(b.Text); found != nil {
					return found[1]
				}
			}
		}
	}
	return ""
}
