package condense

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"sync"

	"github.com/precis-dev/precis"
)

// Cache is a [store.Summaries] in memory that evicts the least recently used
// summaries. It is safe for concurrent use.
type Cache struct {
	most int

	mu    sync.Mutex
	bytes int
	order *list.List // of cacheEntry, the newest first
	byKey map[precis.Fingerprint]*list.Element
}

type cacheEntry struct {
	key  precis.Fingerprint
	text string
}

// NewCache returns a cache of the given number of bytes; 0 means 16 MB.
func NewCache(bytes int) *Cache {
	if bytes <= 0 {
		bytes = 16 << 20
	}
	return &Cache{most: bytes, order: list.New(), byKey: map[precis.Fingerprint]*list.Element{}}
}

// Summary returns the text stored under key; [precis.CodeNotFound] for an unknown key.
func (c *Cache) Summary(_ context.Context, key precis.Fingerprint) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return "", precis.Errorf(precis.CodeNotFound, "load summary", "summary %s is unknown", key.Short())
	}
	c.order.MoveToFront(e)
	return e.Value.(cacheEntry).text, nil
}

// KeepSummary stores a text, unless it is larger than the cache. It never
// fails.
func (c *Cache) KeepSummary(_ context.Context, key precis.Fingerprint, text string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byKey[key]; ok || len(text) > c.most {
		return nil
	}
	c.byKey[key] = c.order.PushFront(cacheEntry{key, text})
	for c.bytes += len(text); c.bytes > c.most; {
		last := c.order.Back()
		old := c.order.Remove(last).(cacheEntry)
		delete(c.byKey, old.key)
		c.bytes -= len(old.text)
	}
	return nil
}

// key is the cache key of a summary: a hash of the model, the prompt and the
// messages.
func (t *task) key() precis.Fingerprint {
	h := sha256.New()
	inputs := struct {
		Prompt
		Images, Bare bool
	}{t.prompt, t.c.KeepImages && t.model.Info().Images, t.c.Bare}
	prompt, _ := json.Marshal(inputs) // all its fields can be encoded
	for _, s := range []string{"summary 1", t.model.Info().ID, t.model.Info().Provider, string(prompt),
		t.r.Previous} {
		_ = binary.Write(h, binary.LittleEndian, uint64(len(s))) // a hash does not fail
		h.Write([]byte(s))
	}
	for i, m := range t.r.Messages {
		hash := precis.HashMessage(m)
		_ = binary.Write(h, binary.LittleEndian, uint64(t.index(i)))
		h.Write(hash[:])
	}
	return precis.Fingerprint(h.Sum(nil))
}

// cached returns a summary that was paid for before. A store that fails counts
// as empty.
func (t *task) cached(ctx context.Context, key precis.Fingerprint) (string, bool) {
	if t.c.Cache == nil {
		return "", false
	}
	text, err := t.c.Cache.Summary(ctx, key)
	if err != nil && precis.CodeOf(err) != precis.CodeNotFound {
		t.call.Warnings = append(t.call.Warnings, "summaries paid before cannot be read: "+err.Error())
	}
	return text, err == nil && visible(text) != ""
}

func (t *task) storeSummary(ctx context.Context, key precis.Fingerprint, text string) {
	if t.c.Cache == nil {
		return
	}
	if err := t.c.Cache.KeepSummary(context.WithoutCancel(ctx), key, text); err != nil {
		t.call.Warnings = append(t.call.Warnings,
			"the summary is not kept and would be paid again: "+err.Error())
	}
}
