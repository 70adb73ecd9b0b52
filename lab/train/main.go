// Command train learns the weights of package retain from recorded conversations and writes them as
// JSON:
//
//	go -C lab run ./train FOLDER > weights.json
//
// At several points of each conversation it determines which of the known facts the assistant uses
// in its next 40 messages without seeing them again, and fits a logistic regression to that. It
// writes the results of a cross-validation, grouped by origin, to standard error and into the file.
package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/formats"
	"github.com/precis-dev/precis/retain"
)

const (
	horizon  = 40   // messages
	least    = 4000 // tokens before the first cut
	cutsEach = 8    // cuts per conversation at most
	folds    = 6
	commonIn = 3 // a name in this many other origins predicts little
	ridge    = 0.3
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: train FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

// conversation is one recording of the training set.
type conversation struct {
	origin string // conversations of one origin are in one fold
	system string
	msgs   []precis.Message
}

func run(folder string) error {
	convs, err := load(folder)
	if err != nil {
		return err
	}
	l := newLearner(convs)
	for _, c := range convs {
		l.count(c)
	}
	for _, c := range convs {
		l.cuts(c)
	}
	w := l.result()
	out, err := json.MarshalIndent(w, "", "  ")
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(append(out, '\n'))
	return err
}

func load(folder string) ([]conversation, error) {
	var out []conversation
	paths, err := filepath.Glob(filepath.Join(folder, "*.json*"))
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		data, err := read(p)
		if err != nil {
			return nil, err
		}
		rec, err := archive.Read(archive.Source{Path: p, Data: data}, formats.All())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		c := rec.Conversation
		out = append(out, conversation{origin: origin(filepath.Base(p)), system: c.System.PlainText(),
			msgs: c.Transcript.Messages()})
	}
	return out, nil
}

// read returns a file's content, decompressed if its name ends in .gz.
func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if !strings.HasSuffix(path, ".gz") {
		return io.ReadAll(f)
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return io.ReadAll(z)
}

// origin returns the first two words of a file name, which identify the recording's source.
func origin(name string) string {
	parts := strings.SplitN(name, "-", 3)
	return strings.Join(parts[:min(2, len(parts))], "-")
}

type learner struct {
	convs   []conversation
	origins []string
	common  map[string]map[string]bool // name → origins
	samples []sample
	fold    []int // by sample: the fold of its conversation
	reuse   *reuse
	ncuts   int
}

func newLearner(convs []conversation) *learner {
	l := &learner{convs: convs, common: map[string]map[string]bool{}, reuse: newReuse()}
	for _, c := range convs {
		if !slices.Contains(l.origins, c.origin) {
			l.origins = append(l.origins, c.origin)
		}
	}
	return l
}

// count records which names occur in conversations of many origins.
func (l *learner) count(c conversation) {
	for f := range names(retain.Read("", c.msgs)) {
		if l.common[f] == nil {
			l.common[f] = map[string]bool{}
		}
		l.common[f][c.origin] = true
	}
}

// cuts adds samples at several points of a conversation.
func (l *learner) cuts(c conversation) {
	var at []int
	chars, last := 0, 0
	for i, m := range c.msgs {
		if m.Role == precis.RoleAssistant && chars/4 >= least && chars-last >= 4*4000 && i+4 < len(c.msgs) {
			at = append(at, i)
			last = chars
		}
		chars += size(m)
	}
	for len(at) > cutsEach {
		for k := range len(at) / 2 {
			at[k] = at[2*k+1]
		}
		at = at[:len(at)/2]
	}
	for _, t := range at {
		l.cut(c, t)
	}
}

func names(x *retain.Index) map[string]bool {
	out := map[string]bool{}
	for _, f := range x.Facts {
		out[f.Name] = true
	}
	return out
}

func size(m precis.Message) int {
	n := 0
	for _, b := range m.Content {
		switch b := b.(type) {
		case precis.Text:
			n += len(b.Text)
		case precis.ToolUse:
			n += len(b.Input)
		case precis.ToolResult:
			n += len(b.Text())
		}
	}
	return n
}

// cut adds the facts known before message t, each with whether it was needed.
func (l *learner) cut(c conversation, t int) {
	x := retain.Read(c.system, c.msgs[:t])
	need := l.needed(x, c.msgs, t)
	l.reuse.add(x, c.msgs, t, slices.Index(l.origins, c.origin)%folds)
	if len(need) == 0 {
		return
	}
	common := slices.Index(retain.FeatureNames(), "common")
	fold := slices.Index(l.origins, c.origin) % folds
	worth := x.Worths()
	for f := range x.Facts {
		if worth[f] == 0 {
			continue
		}
		features := x.Features(f)
		features[common] = 0
		if l.others(x.Facts[f].Name, c.origin) >= commonIn {
			features[common] = 1
		}
		l.samples = append(l.samples,
			sample{x: features, y: need[f], weight: 100 / float64(len(x.Facts)), cut: l.ncuts,
				length: len(x.Facts[f].Name)})
		l.fold = append(l.fold, fold)
	}
	l.ncuts++
}

// needed returns the facts that the assistant uses after t without having seen them again.
func (l *learner) needed(x *retain.Index, msgs []precis.Message, t int) map[int]bool {
	need, fresh := map[int]bool{}, map[int]bool{}
	for i := t; i < min(len(msgs), t+horizon+1); i++ {
		y := retain.Read("", msgs[i:i+1])
		for _, f := range y.Facts {
			k, ok := x.Find(f.Name, f.Kind)
			if !ok {
				continue
			}
			if msgs[i].Role == precis.RoleAssistant {
				if !fresh[k] && !isCommon(l.common, f.Name) {
					need[k] = true
				}
			} else if !need[k] {
				fresh[k] = true
			}
		}
	}
	return need
}

// others counts the origins other than the given one that mention a name.
func (l *learner) others(name, origin string) int {
	n := len(l.common[name])
	if l.common[name][origin] {
		n--
	}
	return n
}

func isCommon(common map[string]map[string]bool, name string) bool { return len(common[name]) >= 8 }

func (l *learner) result() retain.Weights {
	n := len(retain.FeatureNames())
	recall := l.validate(n)
	w := fit(l.samples, n, ridge)
	out := retain.Weights{Weights: map[string]float64{}, Lines: map[string]float64{}}
	for i, name := range retain.FeatureNames() {
		out.Weights[name] = round(w[i])
	}
	lines, note := l.reuse.fit()
	for i, name := range retain.LineFeatureNames() {
		out.Lines[name] = round(lines[i])
	}
	for name, in := range l.common {
		if len(in) > commonIn {
			out.Common = append(out.Common, name)
		}
	}
	sort.Strings(out.Common)
	out.Run = fmt.Sprintf("%d conversations of %d origins, %d cuts, %d facts; logistic regression, ridge %g; "+
		"share of needed facts among the best ranked that fit in 500, 1500 and 3500 tokens, %d-fold over origins: %.3f, %.3f, %.3f",
		len(l.convs), len(l.origins), l.ncuts, len(l.samples), ridge, folds, recall[0], recall[1], recall[2])
	out.Run += "; " + note
	fmt.Fprintln(os.Stderr, out.Run)
	return out
}

func round(v float64) float64 { return math.Round(v*1e4) / 1e4 }

// validate returns the share of needed facts in lists of 500, 1500 and 3500 tokens. Each list is
// ranked by weights learned from the other folds.
func (l *learner) validate(n int) (recall [3]float64) {
	cuts := 0
	for k := range folds {
		var train, test []sample
		for i, s := range l.samples {
			if l.fold[i] == k {
				test = append(test, s)
			} else {
				train = append(train, s)
			}
		}
		if len(test) == 0 {
			continue
		}
		w := fit(train, n, ridge)
		for len(test) > 0 {
			end := 0
			for end < len(test) && test[end].cut == test[0].cut {
				end++
			}
			for b, tokens := range [3]int{500, 1500, 3500} {
				recall[b] += covered(w, test[:end], tokens*4)
			}
			cuts++
			test = test[end:]
		}
	}
	for b := range recall {
		recall[b] /= float64(max(cuts, 1))
	}
	return recall
}

// covered returns the share of needed facts in a list of at most the given number of characters.
func covered(w []float64, cut []sample, chars int) float64 {
	worth := make(map[int]float64, len(cut))
	order := make([]int, len(cut))
	needed := 0
	for i, s := range cut {
		worth[i] = predict(w, s.x) / float64(s.length+2)
		order[i] = i
		if s.y {
			needed++
		}
	}
	sort.SliceStable(order, func(a, b int) bool { return worth[order[a]] > worth[order[b]] })
	got := 0
	for _, i := range order {
		if chars -= cut[i].length + 2; chars < 0 {
			break
		}
		if cut[i].y {
			got++
		}
	}
	return float64(got) / float64(max(needed, 1))
}
