package preview_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/preview"
)

// big repeats a text with a number in it until it has about a megabyte.
func big(format string, args ...int) string {
	var b strings.Builder
	for i := 0; b.Len() < 1<<20; i++ {
		all := make([]any, len(args))
		for k, n := range args {
			all[k] = i * n
		}
		fmt.Fprintf(&b, format, all...)
	}
	return b.String()
}

func BenchmarkOf(b *testing.B) {
	for _, bb := range []struct {
		name, text string
		hint       preview.Hint
	}{
		{"code", big("// Sum%d adds.\nfunc Sum%d(a, b int) int {\n\tif a > b {\n\t\treturn a - b*2 // the other way\n\t}\n\treturn a + b\n}\n\n", 1, 1), preview.Hint{Path: "a.go"}},
		{"code numbered", big("%6d→\tresult = append(result, value.String())\n", 1), preview.Hint{Path: "a.go"}},
		{"json minified", "[" + big(`{"id":%d,"name":"part %d","price":%d.5,"tags":["a","b"],"text":"a few words on it"},`, 1, 1, 3) + "1]", preview.Hint{}},
		{"json pretty", "[\n" + big("  {\n    \"id\": %d,\n    \"name\": \"part %d\",\n    \"price\": 12.5,\n    \"owner\": null\n  },\n", 1, 1) + "1]\n", preview.Hint{}},
		{"json lines", big(`{"id":%d,"event":"start","ms":%d}`+"\n", 1, 17), preview.Hint{}},
		{"log", big("2026-01-05 10:00:01 INFO  request %d from host%d took 12 ms\nERROR could not reach db%d: no route\n", 1, 7, 1), preview.Hint{}},
		{"tests", big("=== RUN   TestNumber%d\n    number_test.go:18: reading %d\n--- PASS: TestNumber%d (0.00s)\n", 1, 1, 1), preview.Hint{Command: "go test -v"}},
		{"search", big("internal/cart/file%d.go:%d:\treturn cart.Total(ctx, items)\n", 1, 3), preview.Hint{}},
		{"diff", "diff --git a/x.go b/x.go\n--- a/x.go\n+++ b/x.go\n" + big("@@ -%d,3 +%d,3 @@ func Sum() {\n a := 1\n-b := 2 // the old way\n+b := 3 // the new way\n c := 4\n", 10, 10), preview.Hint{}},
		{"listing", big("./internal/cart/part%d/file%d.go\n", 1, 1), preview.Hint{}},
		{"prose", big("The service number %d keeps each job until a worker takes it, and tries it again when it fails. \n\n", 1), preview.Hint{}},
		{"table", big("2026-01-01,north,%d,340.50\n", 1), preview.Hint{}},
		{"one line", strings.Repeat("words without an end ", 50_000), preview.Hint{}},
		{"base64", strings.Repeat("iVBORw0KGgoAAAANSUhEUgAA", 43_000), preview.Hint{}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(bb.text)))
			b.ReportAllocs()
			for b.Loop() {
				preview.Of(bb.text, bb.hint)
			}
		})
	}
}
