package recall

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/tool"
	"github.com/precis-dev/precis/internal/content"
	"github.com/precis-dev/precis/internal/words"
)

const (
	mostPlaces = 8  // most blocks in a result
	mostWords  = 16 // most words that are searched for
)

// place is a block that a search found.
type place struct {
	prefix  string // of its conversation; "": this one
	handle  precis.Handle
	name    string
	snippet string
	has     []bool // which words it contains
	score   float64
}

// search lists the blocks that contain most of the words. A word counts more the fewer blocks
// contain it; of equally good blocks the newer one comes first.
func (b *Library) search(ctx context.Context, text string, limit int) tool.Result {
	asked := strings.Fields(words.Fold(text))
	slices.Sort(asked)
	asked = slices.Compact(asked)
	asked = asked[:min(len(asked), mostWords)]
	found, in := b.places(ctx, asked)
	for _, l := range b.previous() {
		more, also := b.of(l).places(ctx, asked)
		for _, p := range more {
			p.prefix = l.Prefix
			found = append(found, p)
		}
		for w := range in {
			in[w] += also[w]
		}
	}
	if len(found) == 0 {
		return tool.Result{Text: "Nothing in this conversation holds any of these words."}
	}
	for i := range found {
		for w, has := range found[i].has {
			if has {
				found[i].score += math.Log(1 + float64(b.Transcript.Len())/float64(in[w]))
			}
		}
	}
	slices.SortFunc(found, func(a, b place) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.handle.From, a.handle.From),
			cmp.Compare(b.handle.Block, a.handle.Block))
	})
	var out strings.Builder
	fmt.Fprintf(&out, "The best of %d places, each with its handle:\n", len(found))
	for _, p := range found[:min(len(found), mostPlaces)] {
		fmt.Fprintf(&out, "\n[%s%s, %s]\n%s\n", p.prefix, p.handle, p.name, p.snippet)
	}
	return tool.Result{Text: b.fitTokens(out.String(), limit)}
}

// places returns the blocks that contain any of the words, and how many blocks contain each word.
func (b *Library) places(ctx context.Context, asked []string) (found []place, in []int) {
	in = make([]int, len(asked))
	for i := range b.Transcript.Len() {
		if ctx.Err() != nil {
			return nil, in
		}
		m := b.at(i)
		for n, c := range m.Content {
			text := blockText(c)
			folded := words.Fold(text)
			p := place{handle: precis.BlockHandle(i, n), has: make([]bool, len(asked))}
			at := -1
			for w, word := range asked {
				k := strings.Index(folded, word)
				if k < 0 {
					continue
				}
				in[w]++
				if at < 0 || len(word) > len(asked[at]) {
					at = w
				}
				p.has[w] = true
			}
			if at < 0 {
				continue
			}
			if len(folded) != len(text) {
				text = folded // folding has changed the length of a letter
			}
			p.name = string(m.Role) + ": " + blockName(c)
			p.snippet = content.Around(text, strings.Index(folded, asked[at]))
			found = append(found, p)
		}
	}
	return found, in
}
