package toolcall_test

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/toolcall"
)

func TestPurposeOfCommands(t *testing.T) {
	for line, want := range map[string]string{
		"cd x && go test ./...": "go test", "go test -run TestA ./a 2>&1 | tail -5": "go test", "bash -lc 'pnpm run lint'": "pnpm run lint", "bash -lc git push origin x": "git push origin",
		"npx tsc --noEmit": "npx tsc", "(cd x && go test ./...)": "go test", "sudo bash -c 'cd x; pytest -q'": "pytest", "A=1 make": "make", "": "", "cd x": "cd x", "python3 -m pytest -q": "python3 -m pytest",
	} {
		if got := toolcall.PurposeOf(line); got.Kind != want {
			t.Errorf("%q is for %q, want %q", line, got.Kind, want)
		}
	}
}

func TestPurposesOfLists(t *testing.T) {
	for line, want := range map[string]string{
		"mise run fmt && mise run lint": "mise run fmt,mise run lint", "cd x && A=1 go vet ./... && go test ./...": "cd x,go vet,go test", "go build ./... | head && go vet ./...": "go build",
		"make lint; make test": "make lint", "go test ./a": "go test", "": "",
	} {
		var kinds []string
		for _, p := range toolcall.Purposes(line) {
			kinds = append(kinds, p.Kind)
		}
		if got := strings.Join(kinds, ","); got != want {
			t.Errorf("%q is for %q, want %q", line, got, want)
		}
	}
}

// TestWhatCoversAFailure: a failure stands until what failed was run again.
func TestWhatCoversAFailure(t *testing.T) {
	for _, tt := range []struct {
		failed, later string
		covers        bool
	}{
		{"pytest tests/a.py::test_x", "pytest tests/a.py", true}, {"pytest tests/a.py", "pytest tests/a.py::test_x", false}, {"mvn -pl core test", "mvn -pl web test", false}, {"ctest -R core", "ctest -R web", false}, {"ctest -R core", "ctest", true},
		{"make -j8 test", "make test", true}, {"make -j 8 test", "make lint", false}, {"make -k test", "make lint", false},
		{"bash -lc cd api && npm test", "bash -lc cd web && npm test", false}, {"bash -lc cd api && npm test", "bash -lc cd api && npm test", true},
		{"bash -lc 'cd api && npm test'", "bash -lc 'cd web && npm test'", false}, {"bash -lc 'cd api && npm test'", "cd api && npm test", true},
		{"go test ./a", "go test ./a", true},
		{"go test ./a", "go test ./b", false},
		{"go test ./a", "go test ./...", true},
		{"go test ./a/b", "go test ./a/...", true},
		{"go test ./...", "go test ./a", false},
		{"go test ./... 2>&1 | tail -5", "go test ./...", true},
		{"go test", "go test ./...", true},
		{"go test ./a", "go test -run TestX ./a", false},
		{"go test -run TestX ./a", "go test ./a", true},
		{"go test -run=TestX ./a", "go test -run TestX ./a", true},
		{"go test -timeout 30s ./a", "go test ./a", true},
		{"cd a && go test ./...", "cd b && go test ./...", false},
		{"cd a && go test ./...", "cd a && go test ./...", true},
		{"pytest tests/test_a.py", "pytest tests", true},
		{"python -m pytest tests/test_a.py", "python -m pytest -q tests/", true},
		{"node a.js", "node b.js", false},
		{"pytest tests/test_a.py", "pytest", true},
		{"pytest tests/test_a.py", "pytest tests/", true},
		{"pytest tests/test_a.py -k one", "pytest tests/test_b.py", false},
		{"python -m pytest", "python -m mypy src", false},
		{"python scripts/migrate.py", "python scripts/report.py", false},
		{"python setup.py build_ext", "python /tmp/check.py", false},
		{"python -c 'import a.b'", "python -c 'import c'", true},
		{"npx tsx -e 'import a'", "npx tsx -e 'import b'", true},
		{"npx tsx a.ts", "npx tsx b.ts", false},
		{"npm test", "npm run lint", false},
		{"make", "make", true},
		{"make -C a", "make -C b", false},
		{"make -C a", "make -C a", true},
		{"go test ./a/b", "go test ./a", false},
		{"go test ./a/b", "go test", false},
		{"go test ./a", "go test .", false}, {"cd a && go test ./...", "(cd b && go test ./...)", false}, {"golangci-lint run ./a/...", "golangci-lint run ./a", false},
		{"cargo test -p one", "cargo test -p two", false},
		{"cargo test -p one", "cargo test", true},
		{"npm test -- a.test.ts", "npm test -- b.test.ts", false},
		{"pytest", "pytest tests/test_a.py", false},
		{"git commit -m 'mend a.go'", "git commit -m 'mend a.go and b.go'", true},
		{"pytest -q", "uv run --with x pytest", true}, {"pytest", "python3 -m pytest", true}, {"python3.9 -m pytest", "python3.12 -m pytest", false}, {"npx vitest run", "pnpm exec vitest", true}, {"npx vitest", "npx vitest run src/b.test.ts", false},
		{"rspec", "bundle exec rspec", true}, {"bash dig/a.sh", "./dig/a.sh", true}, {"./api/run.sh", "./web/run.sh", false}, {"go test ./a", "timeout -k 5 60 go test ./a", true}, {"make", "nice -n 10 make", true}, {"npm test", "npm run test", true},
		{"gradle test", "./gradlew test", true}, {"node_modules/.bin/tsc", "npx tsc", true}, {"docker-compose build", "docker compose build", true}, {"npm --prefix api test", "npm --prefix web test", false}, {"cd api && npm test", "npm --prefix api test", true},
		{"npm test", "npm test -- list", false}, {"tox -e py311", "tox -e lint", false}, {"tox -e lint", "tox", true}, {"go test ./...", "go test -short ./...", false}, {"DIG=a npm test", "DIG=b npm test", false}, {"npm test", "DIG=b npm test", true},
		{"python load.py --year 2024", "python load.py --year 2023", false}, {"python load.py --year 2024", "python load.py --year=2024 -v", true}, {"python load.py --timeout 5", "python load.py --timeout 50", true}, {"./load.sh --to a", "./load.sh --to b", false},
		{"terraform -chdir=a plan", "terraform -chdir=b plan", false}, {"xcodebuild -scheme A test", "xcodebuild -scheme B test", false}, {"kubectl -n a apply -f x.yml", "kubectl -n b apply -f x.yml", false},
	} {
		if got := toolcall.PurposeOf(tt.later).Covers(toolcall.PurposeOf(tt.failed)); got != tt.covers {
			t.Errorf("%q after %q: %v", tt.later, tt.failed, got)
		}
	}
}
