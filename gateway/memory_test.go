package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/precis-dev/precis/gateway"
)

// TestMemoryIsBounded holds 64 conversations of 1 MB at once, with room for a
// fraction of them.
func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("sends 192 MB")
	}
	const limit = 64 << 20
	base, g := start(t, handler(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		streaming(w, twoEvents)
	}), func(o *gateway.Options) {
		window(10_000_000)(o)
		o.Memory = limit
	})
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			a := newAgent("anthropic", fmt.Sprint("Task ", i))
			for n := range 3 {
				a.read(n, strings.Repeat(fmt.Sprintf("line %d of task %d\n", n, i), 18_000))
				if code, out, err := send(t, base, strings.NewReader(a.body(true))); code != 200 || err != nil {
					t.Error(code, out, err)
				}
			}
		})
	}
	wg.Wait()
	after := heap()
	used := int64(after) - int64(before)
	t.Logf("64 conversations of 1 MB, %d of them in memory: %d MB of heap, %d MB allowed for conversations", g.Status(gateway.AllOwners).Memory.Lines, used>>20, limit>>20)
	if used > limit*3/2 {
		t.Errorf("%d MB are held", used>>20)
	}
}
