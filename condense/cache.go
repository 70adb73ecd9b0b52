package condense

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"sync"

	"precis"
)

// SummaryCache keeps summaries by what they were made of, so that the same span
// with the same prompt and model is never paid twice. Implementations are safe
// for concurrent use. A failing cache is an empty one.
type SummaryCache interface {
	Summary(ctx context.Context, key precis.Fingerprint) (text string, ok bool)
	KeepSummary(ctx context.Context, key precis.Fingerprint, text string)
}

// Cache is a [SummaryCache] in memory that forgets what was not used for longest.
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

// NewCache returns a cache of so many bytes; 0 means 16 MB.
func NewCache(bytes int) *Cache {
	if bytes <= 0 {
		bytes = 16 << 20
	}
	return &Cache{most: bytes, order: list.New(), byKey: map[precis.Fingerprint]*list.Element{}}
}

// Summary returns the text kept under key.
func (c *Cache) Summary(_ context.Context, key precis.Fingerprint) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return "", false
	}
	c.order.MoveToFront(e)
	return e.Value.(cacheEntry).text, true
}

// KeepSummary keeps a text. One larger than the cache is not kept.
func (c *Cache) KeepSummary(_ context.Context, key precis.Fingerprint, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byKey[key]; ok || len(text) > c.most {
		return
	}
	c.byKey[key] = c.order.PushFront(cacheEntry{key, text})
	for c.bytes += len(text); c.bytes > c.most; {
		last := c.order.Back()
		old := c.order.Remove(last).(cacheEntry)
		delete(c.byKey, old.key)
		c.bytes -= len(old.text)
	}
}

// key names what a summary is made of: the model, the prompt and the messages.
func (t *task) key() precis.Fingerprint {
	h := sha256.New()
	prompt, _ := json.Marshal(t.prompt) // it has nothing that cannot be written
	for _, s := range []string{"summary 1", t.model.Info().ID, t.model.Info().Provider, string(prompt), t.r.Previous} {
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

func (t *task) cached(ctx context.Context, key precis.Fingerprint) (string, bool) {
	if t.c.Cache == nil {
		return "", false
	}
	return t.c.Cache.Summary(ctx, key)
}

func (t *task) keep(ctx context.Context, key precis.Fingerprint, text string) {
	if t.c.Cache != nil {
		t.c.Cache.KeepSummary(context.WithoutCancel(ctx), key, text)
	}
}
