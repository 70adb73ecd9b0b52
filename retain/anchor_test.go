package retain

import (
	"fmt"
	"strings"
	"testing"
)

func found(text string) string {
	var out []string
	Scan(text, func(a Anchor) { out = append(out, fmt.Sprintf("%s:%s", a.Kind, text[a.Start:a.End])) })
	return strings.Join(out, " | ")
}

func TestScan(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"see internal/store/sqlite.go:12 and ./run.sh.", "path:internal/store/sqlite.go | path:./run.sh"},
		{`C:\Users\me\app.ts and ..\lib\x.cs`, `path:C:\Users\me\app.ts | path:..\lib\x.cs`},
		{"and/or, 1/2, 12/31/2025, I/O, N/A, km/h", ""},
		{"open main.go, package.json and .env.local", "path:main.go | path:package.json | path:.env.local"},
		{"call parseHandle, MAX_SIZE, foo_bar and os.ReadFile", "identifier:parseHandle | identifier:MAX_SIZE | identifier:foo_bar | identifier:os.ReadFile | identifier:ReadFile"},
		{"self.test and e.g. this. That", "identifier:self.test"},
		{"std::vec::Vec", "identifier:std::vec::Vec"},
		{"https://example.com/a?b=c), or", "url:https://example.com/a?b=c"},
		{"commit 3f2a9bc and 123e4567-e89b-12d3-a456-426614174000", "hash:3f2a9bc | hash:123e4567-e89b-12d3-a456-426614174000"},
		{"go test --run=X --no-cache -v", "flag:--run | flag:--no-cache"},
		{"port 8080, 12 things, 3.5s, v1.2.3, 45%, $12.50", "number:8080 | number:3.5s | number:v1.2.3 | number:45% | number:$12.50"},
		{"TypeError: cannot read properties of undefined", "error:TypeError | error:cannot read properties of undefined"},
		{"TS2345 E0308 ENOENT SIGTERM HTTP500", "error:TS2345 | error:E0308 | error:ENOENT | error:SIGTERM | error:HTTP500"},
		{`say "hello big world" or 'it''s' or "x"`, "quote:hello big world"},
		{"fix #1234 and ABC-123, not #1", "ticket:#1234 | ticket:ABC-123"},
		{"toolu_01ABCdefGHIjklMNOpqr", ""},
		{"well-known re-read words", ""},
		{"my-package-name x86-64", "identifier:my-package-name | identifier:x86-64"},
		{"ファイルsrc/main.rsを開く", "path:src/main.rs"},
	} {
		if got := found(tt.text); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.text, got, tt.want)
		}
	}
}

func BenchmarkScan(b *testing.B) {
	text := strings.Repeat("func (s *Server) handleRequest(w http.ResponseWriter, r *http.Request) error {\n\t// see internal/store/sqlite.go:12 for the error: no such file\n\treturn fmt.Errorf(\"open %s: %w\", path, err)\n}\n", 5000)
	b.SetBytes(int64(len(text)))
	n := 0
	for b.Loop() {
		Scan(text, func(Anchor) { n++ })
	}
}
