package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"

	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/internal/sample"
	"github.com/precis-dev/precis/internal/upstream"
	"github.com/precis-dev/precis/preset"
)

// TestFilesAreSeenWhole has agents read 45 files, each of which fits into the window: the model sees every file whole
// once, however small the window. In the smallest, the first file is too long by the count made before the provider's
// counts are known, and two files that are asked for in one message do not fit together.
func TestFilesAreSeenWhole(t *testing.T) {
	t.Parallel()
	runs, i := sample.OneIn(t, 1, 4), 0
	for _, window := range []int{32_000, 60_000, 100_000} {
		for _, size := range []int{24_500, 60_000} {
			for _, known := range []bool{true, false} {
				i++
				if !runs(i) || testing.Short() && (window != 32_000 || size > 30_000 || !known) {
					continue
				}
				t.Run(fmt.Sprintf("window %d, files of %d, known %v", window, size, known), func(t *testing.T) {
					t.Parallel()
					n := 45
					if testing.Short() {
						n = 24 // every third file brings a reduction
					}
					seen := seenWhole(t, n, window, size, known)
					t.Logf("%d of %d files were seen whole", seen, n)
					least := n
					if window == 32_000 && size == 60_000 {
						least = 42
					}
					if seen < least {
						t.Errorf("only %d of %d files were seen whole", seen, n)
					}
				})
			}
		}
	}
}

// seenWhole returns how many of n files of a size in bytes stood whole in a request that the model accepted. known: the
// gateway is told the window; else the first overflow tells it.
func seenWhole(t *testing.T, n, tokens, size int, known bool) int {
	t.Helper()
	paths := files(t, n, size)
	contents := make([][]byte, len(paths))
	for i, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		if contents[i], err = json.Marshal(string(text)); err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	seen := make([]bool, len(paths))
	up, err := upstream.Start(upstream.Options{Files: paths, Window: tokens, Observe: func(r upstream.Record, _ http.Header, body []byte) {
		if r.Overflow || r.Refused != "" {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		for i, c := range contents {
			seen[i] = seen[i] || bytes.Contains(body, c[1:len(c)-1])
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(up.Close)
	base, _ := start(t, up.URL, func(o *gateway.Options) {
		if known {
			window(tokens)(o)
		}
		settings, _ := preset.Settings(preset.Frugal)
		o.Manager, _ = preset.New(preset.Options{Settings: settings})
	})
	w := worker{dialect: "anthropic", model: "claude-sonnet-4-5"}
	w.list = append(w.list, map[string]any{"role": "user", "content": "Read the files one by one. Never write to the disk."})
	for turns, done := 0, false; !done; turns++ {
		if turns > 60 {
			t.Fatal("the task does not end")
		}
		done = w.take(t, exchange(t, base+(&agent{dialect: w.dialect}).path(), w.body(t)))
	}
	mu.Lock()
	defer mu.Unlock()
	whole := 0
	for i, s := range seen {
		if s {
			whole++
		} else {
			t.Logf("file %d is never whole", i+1)
		}
	}
	return whole
}
