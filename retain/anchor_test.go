package retain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func found(text string) string {
	var out []string
	Scan(text, func(a Anchor) { out = append(out, fmt.Sprintf("%s:%s", a.Kind, text[a.Start:a.End])) })
	return strings.Join(out, " | ")
}

func anchors(text string) (out []Anchor) {
	Scan(text, func(a Anchor) { out = append(out, a) })
	return out
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

func TestScanByKind(t *testing.T) {
	for name, cases := range map[string][]struct{ text, want string }{
		"paths": {
			{"/etc/hosts /dev/null ~/.bashrc @types/node", "path:/etc/hosts | path:/dev/null | path:~/.bashrc | path:@types/node"},
			{"src/main.rs:42:13, a/b.go:7:", "path:src/main.rs | path:a/b.go"},
			{"cmd/precis/", ""},
			{"../../lib/util.py", "path:../../lib/util.py"},
			{"node_modules/react/index.js", "path:node_modules/react/index.js"},
			{"README.md, .gitignore and __init__.py.", "path:README.md | path:.gitignore | path:__init__.py"},
			{`D:\\proj\\src\\a.cs`, `path:D:\\proj\\src\\a.cs`},
			{`at .\build\out.log`, `path:.\build\out.log`},
			{"C:/Users/me/app.ts", "path:/Users/me/app.ts"},
			{"application/json, text/html, origin/main", ""},
			{"</button> and <br/>", ""},
			{"a.m. in the U.S. etc.", ""},
			{`diff --git a/x/y.go b/x/y.go`, "flag:--git | path:a/x/y.go | path:b/x/y.go"},
		},
		"identifiers": {
			{"func (s *Server) handleRequest(w http.ResponseWriter)", "identifier:handleRequest | identifier:http.ResponseWriter | identifier:ResponseWriter"},
			{"def load_config(self, path): return self.max_retries", "identifier:load_config | identifier:self.max_retries | identifier:max_retries"},
			{"const [isOpen, setIsOpen] = useState<UserProps>(null)", "identifier:isOpen | identifier:setIsOpen | identifier:useState | identifier:UserProps"},
			{"let m: HashMap<String, Vec<u8>> = HashMap::new();", "identifier:HashMap | identifier:HashMap::new | identifier:HashMap"},
			{"$scope and $HOME", "identifier:$scope | identifier:$HOME"},
			{"Use my-package-name.", "identifier:my-package-name"},
			{"Wait for my-package-name... or ABC-123...", "identifier:my-package-name | ticket:ABC-123"},
			{"call os.ReadFile. And parseHandle.", "identifier:os.ReadFile | identifier:ReadFile | identifier:parseHandle"},
			{"foo.bar().baz.qux_quux()", "identifier:foo.bar | identifier:baz.qux_quux | identifier:qux_quux"},
			{`printf("a\nhandleRequest\tuserName\r\n")`, "identifier:handleRequest | identifier:userName"},
			{`"line\\nparseHandle"`, "identifier:parseHandle"},
			{"____ ____ $$$$", ""},
			{"EXISTS EXPORT EVERY ENTRYPOINT SELECT", ""},
			{"chatcmpl-AbCdEf1234567890abcd call_AbCdEf1234567890abcd msg_01AbCdEf1234567890", ""},
		},
		"errors": {
			{"ERROR: could not connect to database", "error:could not connect to database"},
			{"FATAL: password authentication failed", "error:password authentication failed"},
			{"panic: runtime error: index out of range [5]", "error:runtime error: index out of range [5] | error:index out of range [5]"},
			{"ModuleNotFoundError: No module named requests", "error:ModuleNotFoundError | error:No module named requests"},
			{"java.lang.NullPointerException", "identifier:java.lang.NullPointerException | error:NullPointerException"},
			{"npm ERR! code ELIFECYCLE", "error:ELIFECYCLE"},
			{"error[E0308]: mismatched types", "error:E0308"},
			{"Error: short", ""},
			{"Error: 找不到文件", ""},
			{"Error: " + strings.Repeat("word ", 30), "error:" + strings.TrimSpace(strings.Repeat("word ", 16))},
		},
		"numbers": {
			{"total 12345.67.", "number:12345.67"},
			{"95%, 3.5% and 12.75% of 7%", "number:95% | number:3.5% | number:12.75%"},
			{"250MB 1.5GB 12ms", "number:250MB | number:1.5GB | number:12ms"},
			{"on 2025-03-04 at 10:30.", "number:2025-03-04"},
			{"due 2025-03-04.", "number:2025-03-04"},
			{"v20.11.0, ^18.2.0, 1.2.3-rc.1", "number:v20.11.0 | number:18.2.0 | number:1.2.3-rc.1"},
			{"127.0.0.1:8080", "number:127.0.0.1 | number:8080"},
			{"123 items, 3 of 12", ""},
		},
		"hashes": {
			{"deadbee1 cafebabe 1234567", "hash:deadbee1 | number:1234567"},
			{strings.Repeat("a1", 32), "hash:" + strings.Repeat("a1", 32)},
			{"123E4567-E89B-12D3-A456-426614174000", "hash:123E4567-E89B-12D3-A456-426614174000"},
		},
		"urls": {
			{"(https://example.com/a/b_c#d).", "url:https://example.com/a/b_c#d"},
			{"见https://example.com/文档", "url:https://example.com/"},
			{`{"url":"http://localhost:3000/x\n"}`, "url:http://localhost:3000/x"},
			{"**https://a.example/x**", "url:https://a.example/x"},
			{"postgres://u@host:5432/db", "url:postgres://u@host:5432/db"},
			{"http://a", ""},
			{"http://" + strings.Repeat("a", 600), ""},
		},
		"flags": {
			{"--no-verify=true -v ---x", "flag:--no-verify"},
			{"a--b i-- --1x", ""},
			{"<!-- comment --> ------", ""},
			{"use --dry-run- now", "flag:--dry-run"},
			{"--" + strings.Repeat("a", 1000), ""},
		},
		"tickets": {
			{"fix ABC-123.", "ticket:ABC-123"},
			{"#12, #123 and abc#123 or #12a #123456789", "ticket:#12 | ticket:#123"},
		},
		"quotes": {
			{"run `npm run build` now", "quote:npm run build"},
			{"it's John's book", ""},
			{`打开"用户 设置"页面`, "quote:用户 设置"},
			{"\"two\nlines of it\"", ""},
			{`"a" + "b c d e f"`, "quote:b c d e f"},
			{`"x = (1 + 2);"`, ""},
		},
		"words of natural languages": {
			{"The quick brown fox jumps over the lazy dog; it doesn't matter.", ""},
			{"Größe überprüfen, naïve façade, ça marche", ""},
			{"这是一个普通的句子，没有任何代码。", ""},
			{"これは普通の文です。", ""},
			{"", ""},
			{". - # \" ' ` / \\ ~ @ $ _ :", ""},
		},
		"around CJK": {
			{"打开文件src/main.go，然后调用parseHandle。", "path:src/main.go | identifier:parseHandle"},
			{"修复ABC-123、参见#456", "ticket:ABC-123 | ticket:#456"},
			{"バージョンv1.2.3で8080番", "number:v1.2.3 | number:8080"},
		},
	} {
		for _, tt := range cases {
			if got := found(tt.text); got != tt.want {
				t.Errorf("%s: %q\n got %s\nwant %s", name, tt.text, got, tt.want)
			}
		}
	}
}

func TestKindsHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for k := range kinds {
		b, err := k.MarshalText()
		if err != nil || string(b) != k.String() || seen[k.String()] || k.String() == "" {
			t.Errorf("kind %d: %q %v", k, b, err)
		}
		seen[k.String()] = true
	}
	if kinds.String() != "unknown" {
		t.Error("a kind that is none has a name")
	}
}

// fragments are what hostile texts are made of.
var fragments = []string{
	"a", "b", "parseHandle", "main.go", "src/", "/", ".", "..", "\\", "\\\\", ":", "::", "-", "--", "#", "1", "42", "2024", "$", "_", "@", "~", "%",
	"\"", "'", "`", " ", " ", " ", "\n", "\t", "\r", "error:", "Error: ", "https://", "C:\\", "文件", "é", "。", "\xff", "\x00", "E", "ENOENT", "{", ")", "<",
	"call_", "0123456789abcdef", "word word word",
}

func hostile(t *rapid.T, label string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 0, 60).Draw(t, label), "")
}

// checkScan fails when what Scan yields breaks its promises.
func checkScan(t interface{ Fatalf(string, ...any) }, text string) {
	last := 0
	Scan(text, func(a Anchor) {
		if a.Start < last || a.End <= a.Start || a.End > len(text) || a.Kind >= kinds {
			t.Fatalf("%q: anchor %+v after one at %d", text, a, last)
		}
		last = a.Start
		most := longest + 1 // a number's percent sign
		if a.Kind == KindURL {
			most = 2 * longest
		}
		if a.End-a.Start > most {
			t.Fatalf("%q: an anchor of %d bytes", text, a.End-a.Start)
		}
		if s := text[a.Start:a.End]; utf8.ValidString(text) && !utf8.ValidString(s) || strings.TrimSpace(s) == "" || strings.Contains(s, "\n") {
			t.Fatalf("%q: %s %q", text, a.Kind, s)
		}
	})
}

func TestScanKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkScan(t, hostile(t, "text"))
		checkScan(t, rapid.String().Draw(t, "string"))
	})
}

// No anchor spans lines, so lines can be read apart.
func TestScanReadsLinesForThemselves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := hostile(t, "a"), hostile(t, "b")
		want := anchors(a)
		for _, x := range anchors(b) {
			x.Start += len(a) + 1
			x.End += len(a) + 1
			want = append(want, x)
		}
		if got := anchors(a + "\n" + b); !slices.Equal(got, want) {
			t.Fatalf("%q and %q: %v, want %v", a, b, got, want)
		}
	})
}

// hostileTexts are texts that a careless scanner reads many times.
var hostileTexts = map[string]string{
	"quotes": "\"", "ticks": "`' ", "dots": ".", "slashes": "/", "backslashes": "\\", "open quotes": "\"a ", "errors": "error: ", "chains": "..a",
	"colons": "a::", "hyphens": "-", "dashes": "a-", "ats": "@a", "tildes": "~a", "hashes": "#1", "urls": "ab://", "drives": "a:\\", "digits": "1",
	"letters": "aB", "underscores": "_", "dollars": "$", "percent": "11%", "long chains": strings.Repeat(".", 250) + "foo ", "parts": "a/b.c/", "CJK": "错误",
	"long paths": strings.Repeat("a.b/", 60) + " ", "dotted": strings.Repeat("ab.", 80) + "c ", "dashed": strings.Repeat("abcd-", 50) + "e ",
	"fatal chain": "error: error: error ",
}

// What a scan finds grows with the text, and megabytes of the worst end soon: a
// scan that read to the end for each mark would not.
func TestScanIsLinear(t *testing.T) {
	for name, unit := range hostileTexts {
		work := func(size int) (n, bytes int) {
			Scan(strings.Repeat(unit, size/len(unit)+1), func(a Anchor) { n++; bytes += a.End - a.Start })
			return n, bytes
		}
		n1, b1 := work(100_000)
		n2, b2 := work(1_000_000)
		if n2 > 11*n1+10 || b2 > 11*b1+5000 {
			t.Errorf("%s: %d anchors of %d bytes, and %d of %d in ten times the text", name, n1, b1, n2, b2)
		}
		if n2 > 1_000_000 || b2 > 32*1_000_000 {
			t.Errorf("%s: %d anchors of %d bytes in 1 MB", name, n2, b2)
		}
	}
}

func TestScanAllocatesNothing(t *testing.T) {
	text := kindsOfText["Go"] + kindsOfText["log"]
	n := 0
	if got := testing.AllocsPerRun(5, func() { Scan(text, func(Anchor) { n++ }) }); got > 3 {
		t.Errorf("%v allocations", got)
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range fragments {
		f.Add(s)
	}
	for _, s := range kindsOfText {
		f.Add(s[:min(len(s), 400)])
	}
	f.Add(`see "C:\a\b.ts:12" and error: no such file or directory, https://x.y/z. #123 --flag 45%`)
	f.Fuzz(func(t *testing.T, text string) { checkScan(t, text) })
}

// kindsOfText are texts for measuring, some 200 KB each.
var kindsOfText = map[string]string{
	"Go": strings.Repeat("func (s *Server) handleRequest(w http.ResponseWriter, r *http.Request) error {\n"+
		"\t// see internal/store/sqlite.go:12 for the error: no such file\n\treturn fmt.Errorf(\"open %s: %w\", path, err)\n}\n", 1000),
	"JSON": strings.Repeat(`{"id":"a1b2c3d4-0000-4000-8000-0123456789ab","name":"Jane Doe","tags":["alpha","beta"],"count":12345,"ok":true,"url":"https://example.com/x/1"},`+"\n", 1400),
	"log": strings.Repeat("2026-01-15T10:30:00.123Z INFO  [worker-3] request id=9f8e7d6c5b4a path=/api/v1/users status=200 took=12ms\n"+
		"2026-01-15T10:30:01.456Z ERROR [db] connect: ECONNREFUSED 127.0.0.1:5432\n", 1100),
	"Chinese": strings.Repeat("我们需要先修复登录页面的问题，然后再检查数据库连接是否正常。这个改动不会影响其他模块。\n", 1500),
	"English": strings.Repeat("The parser reads the whole file first, and then decides which of the parts it should keep in memory for later.\n", 1800),
}

func BenchmarkScan(b *testing.B) {
	names := make([]string, 0, len(kindsOfText))
	for name := range kindsOfText {
		names = append(names, name)
	}
	slices.SortFunc(names, cmp.Compare[string])
	for _, name := range names {
		text := kindsOfText[name]
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			n := 0
			for b.Loop() {
				Scan(text, func(Anchor) { n++ })
			}
		})
	}
}
