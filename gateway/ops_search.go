package gateway

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"precis"
)

// Found is a message that a search found.
type Found struct {
	precis.SearchHit
	Owner  string        `json:"owner"`
	Title  string        `json:"title,omitempty"` // of the conversation
	Handle precis.Handle `json:"handle"`
}

// FoundList is the answer to a search, the best first.
type FoundList struct {
	Items []Found `json:"items"`
	Index string  `json:"index"` // where it was looked: "store" or "memory"
}

// SearchOptions ask for messages by their words.
type SearchOptions struct {
	Text         string // words, all of which must occur
	Conversation string // only in this one; "": in all
	Limit        int    // at most so many; 0: 20; at most 500
}

// Search finds messages, hidden or not: with the store's index when it has one,
// else by reading the conversations in memory.
func (g *Gateway) Search(ctx context.Context, owner string, o SearchOptions) (FoundList, error) {
	const op = "search"
	if strings.TrimSpace(o.Text) == "" {
		return FoundList{}, precis.Errorf(precis.CodeInvalid, op, "there is nothing to look for")
	}
	limit, err := pageSize(cmp.Or(o.Limit, 20))
	if err != nil {
		return FoundList{}, err
	}
	if o.Conversation != "" && owner == AllOwners {
		if owner, err = g.OwnerOf(ctx, o.Conversation); err != nil {
			return FoundList{}, err
		}
	}
	owners, err := g.owners(ctx, owner)
	if err != nil {
		return FoundList{}, err
	}
	if err := g.saver.settle(ctx); err != nil {
		return FoundList{}, err
	}
	out := FoundList{Items: []Found{}, Index: "memory"}
	for _, who := range owners {
		hits, indexed, err := g.searchOwner(ctx, who, precis.SearchQuery{Text: o.Text, Conversation: o.Conversation, Limit: limit})
		if err != nil {
			return FoundList{}, err
		}
		if indexed {
			out.Index = "store"
		}
		out.Items = append(out.Items, hits...)
	}
	slices.SortStableFunc(out.Items, func(a, b Found) int { return cmp.Compare(b.Score, a.Score) })
	out.Items = out.Items[:min(len(out.Items), limit)]
	return out, nil
}

func (g *Gateway) searchOwner(ctx context.Context, owner string, q precis.SearchQuery) (found []Found, indexed bool, err error) {
	var hits []precis.SearchHit
	cat := g.catalog(owner)
	searcher, indexed := cat.(precis.Searcher)
	if indexed {
		hits, err = searcher.Search(ctx, q)
	} else {
		hits, err = g.scan(ctx, owner, q)
	}
	if err != nil {
		return nil, indexed, err
	}
	memory, titles := g.remembered(owner), map[string]string{}
	for _, h := range hits {
		title, known := titles[h.Conversation]
		switch held := memory[h.Conversation]; {
		case known:
		case held != nil:
			title = held.recordNow().Title
		case cat != nil:
			if rec, err := cat.Conversation(ctx, h.Conversation); err == nil {
				title = rec.Title
			}
		}
		titles[h.Conversation] = title
		found = append(found, Found{SearchHit: h, Owner: owner, Title: title, Handle: precis.MessageHandle(h.Message)})
	}
	return found, indexed, nil
}

// scan reads the conversations in memory.
func (g *Gateway) scan(ctx context.Context, owner string, q precis.SearchQuery) ([]precis.SearchHit, error) {
	words := strings.Fields(strings.ToLower(q.Text))
	var out []precis.SearchHit
	for id, h := range g.remembered(owner) {
		if q.Conversation != "" && q.Conversation != id {
			continue
		}
		for i, m := range h.line.Transcript.Messages() {
			if err := ctx.Err(); err != nil {
				return nil, precis.Errorf(precis.CodeCanceled, "search", "%w", context.Cause(ctx))
			}
			if hit, ok := matches(m, words); ok {
				hit.Conversation, hit.Message = id, i
				out = append(out, hit)
			}
		}
	}
	slices.SortFunc(out, func(a, b precis.SearchHit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Conversation, b.Conversation), cmp.Compare(b.Message, a.Message))
	})
	return out[:min(len(out), q.Limit)], nil
}

// matches reports whether a message holds all words. The score is the share of
// them that stand near the longest one.
func matches(m precis.Message, words []string) (precis.SearchHit, bool) {
	text := searched(m.Content)
	folded := strings.ToLower(text)
	longest := ""
	for _, w := range words {
		if !strings.Contains(folded, w) {
			return precis.SearchHit{}, false
		}
		if len(w) > len(longest) {
			longest = w
		}
	}
	if len(folded) != len(text) {
		text = folded // a letter has another length in lower case
	}
	snippet := around(text, strings.Index(folded, longest))
	near := strings.ToLower(snippet)
	score := 0.0
	for _, w := range words {
		if strings.Contains(near, w) {
			score++
		}
	}
	return precis.SearchHit{Snippet: snippet, Score: score / float64(len(words))}, true
}

// around returns at most 300 bytes of a text from a little before a place on.
func around(text string, at int) string {
	from := max(at-60, 0)
	for from < at && !utf8.RuneStart(text[from]) {
		from++
	}
	to := min(from+300, len(text))
	for to > from && to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}
	return strings.ToValidUTF8(text[from:to], "")
}

// searched returns what searches look at.
func searched(blocks []precis.Block) string {
	var parts []string
	for _, b := range blocks {
		switch b := b.(type) {
		case precis.Text:
			parts = append(parts, b.Text)
		case precis.ToolUse:
			parts = append(parts, b.Name, string(b.Input))
		case precis.ToolResult:
			parts = append(parts, searched(b.Content))
		}
	}
	return strings.Join(parts, "\n")
}
