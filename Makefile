# make test is all a newcomer needs; the rest is for work on precis itself.

GO ?= go
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c

.PHONY: test test-all test-long full new-models build man treesitter check guard race fuzz properties vectors clients agents integrations vscode modules hosts ui-test ui-shots figures bench chaos scale rename-module release vulnerabilities clean

# Tests have three levels. -short: minutes, with nothing but Go. Without it: also what needs a browser, npm, processes or
# recordings, and samples of the long loops (PRECIS_SEED rotates them). With PRECIS_ALL=1: every loop, whole (see make full).
# Tests of the gateway that link the SDKs of providers have the tag sdk, so that the others are built in half of the time.
TESTFLAGS ?=
test: ## run the quick tests of every package: some minutes, nothing is downloaded but Go modules
	$(GO) test $(TESTFLAGS) -short -timeout 15m ./...
	$(GO) -C lab test $(TESTFLAGS) -short ./...
	@$(NOTTRIED) echo "not tried: $$missing""a browser, packages of npm and most of the long loops (-short); see make test-all"

# NOTTRIED sets missing to what tests skip on this machine, with the reason.
NOTTRIED = missing=; \
	{ command -v initdb || ls /usr/lib/postgresql/*/bin/initdb; } >/dev/null 2>&1 || missing+="PostgreSQL (not installed), "; \
	[ -n "$$PRECIS_TRANSCRIPTS$$PRECIS_VECTORS$$PRECIS_WIRE" ] || missing+="golden cases and recordings (PRECIS_VECTORS, PRECIS_TRANSCRIPTS, PRECIS_WIRE are not set), ";

test-all: ## run every test, long loops by a sample: needs chromium, npm, PostgreSQL and python3 for some, which are skipped without
	$(GO) test $(TESTFLAGS) -tags sdk -timeout 30m ./...
	$(GO) -C lab test $(TESTFLAGS) ./...

# What -short changes is in these packages; the others have run whole in make test.
LONG = $$(grep -rlE --include='*_test.go' --exclude-dir=integrations --exclude-dir=lab 'testing\.Short\(|internal/sample"|^//go:build sdk' . | xargs -n1 dirname | sort -u)
test-long: ## run what make test leaves out of test-all
	$(GO) test $(TESTFLAGS) -tags sdk -timeout 30m $(LONG)
	$(GO) -C lab test $(TESTFLAGS) ./release

full: export CI_REQUIRE_POSTGRES = 1
full: export CI_REQUIRE_CHROMIUM = 1
full: export CI_REQUIRE_NPM = 1
full: export CI_REQUIRE_HTTPX = 1
full: ## run everything, nothing sampled: more than an hour
	@$(NOTTRIED) test -z "$$missing" || echo "not tried: $${missing%, }"
	$(MAKE) check guard modules MODULES=-race
	PRECIS_ALL=1 PRECIS_NPM=1 $(GO) test -tags sdk -count=1 -timeout 120m ./...
	$(MAKE) race RACE=./... RACEROOT= NORACE= RACESKIP=
	$(MAKE) fuzz FUZZ=all
	$(MAKE) properties RUNS=30000
	$(MAKE) agents
	$(MAKE) new-models

# Without C the program is static. Its templates (html/template) call methods by name,
# so that the linker keeps every method of every type that is made: large libraries
# cost all of their size, used or not.
build: ## build the command into ./dist
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w" -o dist/precis ./cmd/precis

man: build ## write manual pages into ./dist/man
	mkdir -p dist/man
	dist/precis man dist/man

treesitter: ## build precis with its worker for the grammars of tree-sitter, and test that: needs a C compiler and some minutes
	$(MAKE) build
	CGO_ENABLED=1 $(GO) -C lab build -trimpath -tags treesitter -ldflags "-s -w" -o ../dist/precis-outline-worker ./cmd/precis-outline-worker
	CGO_ENABLED=1 $(GO) -C lab vet -tags treesitter ./...
	CGO_ENABLED=1 $(GO) -C lab test -tags treesitter ./...

# Packages with files for some systems. make release compiles all of them for six platforms.
PLATFORMS = ./cmd/internal/doctor ./cmd/internal/launch ./cmd/internal/memory ./cmd/internal/service ./internal/atomicfile ./internal/filelock ./internal/outlineworker ./internal/pgtest
check: ## formatting and static analysis
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "gofmt would change these files"; exit 1; }
	$(GO) vet -tags sdk ./...
	$(GO) tool staticcheck -tags sdk ./...
	$(GO) -C lab vet ./...
	GOOS=windows $(GO) vet $(PLATFORMS)
	@for m in . lab integrations/go/*; do (cd $$m && $(GO) mod tidy -diff) || { echo "$$m/go.mod: go mod tidy would change it"; exit 1; }; done
	@dead=$$($(GO) tool deadcode -tags sdk -test -f '{{$$p := .Path}}{{range .Funcs}}{{printf "%s %s.%s\n" .Position $$p .Name}}{{end}}' ./... | \
	  grep -E '/internal/|/cmd/|\.[a-z][A-Za-z0-9_]*$$' || true); \
	  test -z "$$dead" || { echo "$$dead"; echo "nothing calls these functions, and no other module can"; exit 1; }

guard: ## size, language, cost and quality of the project, compared with the limits in internal/guard/limits.txt
	$(GO) run ./internal/guard

# The race detector runs where goroutines share data: packages that start some, and what they share. Of others that would take many
# minutes only the tests that do. What cmd/precis starts is in cmd/internal/service. All of it: RACE=./... RACEROOT= NORACE= RACESKIP=
RACE ?= $$(grep -rlE --include='*.go' --exclude='*_test.go' --exclude-dir=integrations --exclude-dir=lab '^\s+go (func|[a-zA-Z_.]+\()|\.Go\(' . | xargs -n1 dirname | \
  grep -vx './cmd/precis\|./dashboard' | sort -u) ./store/memory ./store/postgres ./store/sqlite ./keeper ./conversation ./provider/... ./gateway/...
RACEROOT ?= -run 'AtOnce|AnySequence|Live' . ./dashboard
# These share nothing but tables that are built once. With instruments they take ten times as long.
NORACE ?= ./digest ./retain ./reduce ./outline ./workstate ./tokens ./wire/... ./internal/toolcall ./internal/prose \
  ./internal/rules ./internal/harness ./internal/words ./internal/preview ./internal/jsonspan ./internal/plain modernc.org/... regexp/...
# Tests that mostly start other processes, read many files or repeat one call.
RACESKIP ?= -skip 'TestKilled|OfProcesses|FilesAreSeenWhole|TestNothingToSay'
race: ## run the tests of packages with goroutines with the race detector
	GOGC=400 $(GO) test -race $(patsubst %,-gcflags=%=-race=false,$(NORACE)) $(TESTFLAGS) $(RACESKIP) -short -timeout 30m $$(printf '%s\n' $(RACE) | sort -u)
	$(if $(RACEROOT),GOGC=400 $(GO) test -race $(patsubst %,-gcflags=%=-race=false,$(NORACE)) $(TESTFLAGS) -short -timeout 30m $(RACEROOT))

FUZZTIME ?= 2000x
# third: every third target, rotated by PRECIS_SEED (hexadecimal, else the commit), and all of packages whose production code changed in the
# four hours before the commit. all: every target, guided by coverage. A third runs without guidance: so few inputs gain nothing from it, and
# the packages are compiled once for tests and for fuzzing.
FUZZ ?= third
fuzz: ## run fuzz targets for so many inputs (FUZZTIME=1m: for so long), FUZZ=all: each
	@at=$$(mktemp -d); trap 'rm -rf "$$at"' EXIT; \
	cache=$$($(GO) env GOCACHE)/fuzz/$$($(GO) list -m); \
	seed=$${PRECIS_SEED:-$$(git rev-parse HEAD)}; \
	base=$$(git rev-list -1 --before=$$(($$(git log -1 --format=%ct) - 14400)) HEAD); \
	echo "PRECIS_SEED=$$seed, packages changed since $${base:0:12}"; \
	i=$$((16#$${seed:0:7})); \
	for dir in $$(grep -rl --include='*_test.go' --exclude-dir=integrations --exclude-dir=lab '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
	  targets=; \
	  for f in $$(grep -ho '^func Fuzz[A-Za-z0-9_]*' "$$dir"/*_test.go | cut -c6- | sort); do \
	    i=$$((i + 1)); \
	    if [ "$(FUZZ)" = all ] || [ $$((i % 3)) = 0 ] || ! git diff --quiet $$base HEAD -- ":(glob)$$dir/*.go" ":(exclude,glob)$$dir/*_test.go"; then targets+=" $$f"; fi; \
	  done; \
	  [ -n "$$targets" ] || continue; \
	  $(GO) test -c $(if $(filter all,$(FUZZ)),-fuzz .) -o "$$at/fuzz.test" "$$dir"; \
	  for f in $$targets; do \
	    echo "fuzz $$dir $$f"; \
	    (cd "$$dir" && "$$at/fuzz.test" -test.run '^$$' -test.fuzz "^$$f\$$" -test.fuzztime $(FUZZTIME) -test.fuzzminimizetime 10x -test.fuzzcachedir "$$cache/$$dir") >"$$at/log" 2>&1 || { cat "$$at/log"; exit 1; }; \
	  done; \
	done

RUNS ?= 10000
properties: ## the promises, over many random conversations
	PRECIS_RUNS=$(RUNS) $(GO) test . -count=1 -run CondensingIsTakenBack
	$(GO) test . -run 'EveryPromise|Rewound|LastUserTurn|Repair' -rapid.checks=2000
	$(GO) test ./digest -run 'EveryDigest' -rapid.checks=2000
	$(GO) test ./conformance -run 'Traps'

new-models: ## name the models of the makers that the newest agents know and the catalog lacks: needs npm
	@at=$$(mktemp -d); trap 'rm -rf "$$at"' EXIT; \
	(cd "$$at" && npm pack --silent "@earendil-works/pi-ai@>=1" >/dev/null && tar xzf ./*.tgz); \
	$(GO) -C lab run ./modeldata -missing "$$at/package/dist/providers/data"

vectors: ## golden cases and recordings; set PRECIS_VECTORS and PRECIS_TRANSCRIPTS
	PRECIS_ALL=1 $(GO) test -timeout 60m ./conformance -v | grep -E 'cases|messages |^(ok|FAIL|---)' 

clients: export CLIENTS_GATEWAY ?= $(GO) run ./cmd/precis gateway --listen 127.0.0.1:$$PORT --upstream $$UPSTREAM
clients: ## agent programs from npm against a small window, through the gateway of CLIENTS_GATEWAY; CLIENTS=--direct: through none
	$(GO) -C lab build -o ../dist/clients ./clients/cmd/clients
	dist/clients $(CLIENTS)

integrations: ## the folder integrations inside httpx and the packages of npm, and the examples: needs python3 with httpx and build, node and npm
	PRECIS_NPM=1 CI_REQUIRE_HTTPX=1 $(GO) test ./cmd/precis -count=1 -v -run 'Integrations|GoExample'

vscode: ## the extension for VS Code: its tests, also against this program, and its package: needs node 20 and npm
	CI_REQUIRE_NPM=1 $(GO) test ./cmd/precis -count=1 -v -run VSCode

modules: ## the Go modules of the folder integrations, which have dependencies of their own; MODULES=-race: with the race detector
	@set -e; for m in integrations/go/*; do echo "== $$m"; (cd $$m && test -z "$$(gofmt -l .)" && $(GO) vet $(MODULES) ./... && $(GO) test $(MODULES) -vet=off ./...); done

agents: ## the clients and hosts that CI tries
	$(MAKE) clients CLIENTS="--strict --parallel 2 --only sdk-anthropic,sdk-anthropic-stream,sdk-chat,sdk-responses,pi-anthropic"
	$(MAKE) hosts HOSTS="--strict --files 14 --only claude-code,claude-code-2.1.197,codex,pi,gemini"
	$(MAKE) hosts HOSTS="--strict --files 16 --modes gateway,digest --only claude-code,codex"

hosts: build ## agent programs from npm with precis inside, and what reaches the model after their own compactions; HOSTS="--only codex"
	$(GO) -C lab build -o ../dist/hosts ./clients/cmd/hosts
	dist/hosts --precis dist/precis $(HOSTS)

figures: ## measure what the README and docs/measurements.md state, and write it there: needs PRECIS_TRANSCRIPTS
	PRECIS_ALL=1 $(GO) test ./conformance -count=1 -v -run 'TestCompactions|TestHandOver|TestReAsks' -update-figures

ui-test: ## the dashboard in a real browser: needs chromium, and npm for axe-core
	CI_REQUIRE_CHROMIUM=1 $(GO) test ./dashboard -count=1 -v -run 'Browser|Phone|Accessible'

ui-shots: ## pictures of every page, light, dark and on a phone, in ./dist/shots
	mkdir -p dist/shots
	PRECIS_SHOTS="$(CURDIR)/dist/shots" CI_REQUIRE_CHROMIUM=1 $(GO) test ./dashboard -count=1 -run PicturesOfEveryPage

bench: ## benchmarks
	$(GO) test -run '^$$' -bench . ./...

chaos: ## conversations through whatever goes wrong, as a table: a killed process, a full disk, streams that are cut, replicas, a clock set back
	$(GO) test ./gateway -count=1 -v -run 'TestChaos' | grep -E '[|] |^(ok|FAIL|---)'

SIZES ?= 3
scale: build ## time and memory of the command over recordings of every shape, each ten times the one before: SIZES=3, SCALE="-shape aider"
	$(GO) run ./cmd/internal/scale/cmd/scale -precis dist/precis -sizes $(SIZES) $(SCALE)

release: export VERSION ?= 0.0.0-dev
release: ## build a release into ./dist/release: six platforms, checksums, licences, image, packages; VERSION=0.4.0
	$(GO) -C lab run ./release -version "$$VERSION"

vulnerabilities: ## known vulnerabilities of what is linked, from vuln.go.dev
	$(GO) run golang.org/x/vuln/cmd/govulncheck@latest ./...

rename-module: ## give the module another path, everywhere: MODULE=example.com/you/precis
	$(GO) run ./internal/renamemodule "$(MODULE)"
	$(GO) build ./...

clean:
	rm -rf dist
