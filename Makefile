# make test is all a newcomer needs; the rest is for work on precis itself.

GO ?= go
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c

.PHONY: test build man treesitter check guard size race fuzz properties vectors clients integrations vscode modules hosts ui-test ui-shots bench chaos scale rename-module clean

test: ## run every test
	$(GO) test -timeout 30m ./...

# Without C the program is static. Its templates (html/template) call methods by name,
# so that the linker keeps every method of every type that is made: large libraries
# cost all of their size, used or not.
build: ## build the command into ./dist
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w" -o dist/precis ./cmd/precis

man: build ## write manual pages into ./dist/man
	mkdir -p dist/man
	dist/precis man dist/man

treesitter: ## build the command with the grammars of tree-sitter, and test them: needs a C compiler and some minutes
	CGO_ENABLED=1 $(GO) build -trimpath -tags treesitter -ldflags "-s -w" -o dist/precis-treesitter ./cmd/precis
	CGO_ENABLED=1 $(GO) vet -tags treesitter ./internal/treesitter ./internal/outlineworker ./outline ./cmd/precis
	CGO_ENABLED=1 $(GO) test -tags treesitter ./internal/treesitter ./internal/outlineworker ./outline ./cmd/precis

check: ## formatting and static analysis
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "gofmt would change these files"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	@for m in . integrations/go/*; do (cd $$m && $(GO) mod tidy -diff) || { echo "$$m/go.mod: go mod tidy would change it"; exit 1; }; done
	@dead=$$($(GO) tool deadcode -test -f '{{$$p := .Path}}{{range .Funcs}}{{printf "%s %s.%s\n" .Position $$p .Name}}{{end}}' ./... | \
	  grep -E '/internal/|/cmd/|\.[a-z][A-Za-z0-9_]*$$' || true); \
	  test -z "$$dead" || { echo "$$dead"; echo "nothing calls these functions, and no other module can"; exit 1; }

guard: ## size, language and cost of the project, compared with the limits in internal/guard/limits.txt
	$(GO) run ./internal/guard

size: guard # the guard measures the program, too; .ci/run still calls this name

race: ## run every test with the race detector
	$(GO) test -race -short -timeout 30m ./...

FUZZTIME ?= 5000x
# Each package is built once, with the instruments of fuzzing, for all of its targets.
fuzz: ## run each fuzz target for so many inputs (FUZZTIME=1m: for so long)
	@at=$$(mktemp -d); trap 'rm -rf "$$at"' EXIT; \
	cache=$$($(GO) env GOCACHE)/fuzz/$$($(GO) list -m); \
	for dir in $$(grep -rl --include='*_test.go' --exclude-dir=integrations '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
	  $(GO) test -c -fuzz . -o "$$at/fuzz.test" "$$dir"; \
	  for f in $$(cd "$$dir" && "$$at/fuzz.test" -test.list '^Fuzz'); do \
	    echo "fuzz $$dir $$f"; \
	    (cd "$$dir" && "$$at/fuzz.test" -test.run '^$$' -test.fuzz "^$$f\$$" -test.fuzztime $(FUZZTIME) -test.fuzzminimizetime 10x -test.fuzzcachedir "$$cache/$$dir") >"$$at/log" 2>&1 || { cat "$$at/log"; exit 1; }; \
	  done; \
	done

RUNS ?= 30000
properties: ## the promises, over many random conversations
	PRECIS_RUNS=$(RUNS) $(GO) test . -count=1 -run CondensingIsTakenBack
	$(GO) test . -run 'EveryPromise|Rewound|LastUserTurn|Repair' -rapid.checks=2000
	$(GO) test ./digest -run 'EveryDigest' -rapid.checks=2000
	$(GO) test ./conformance -run 'Traps'

vectors: ## golden cases and recordings; set PRECIS_VECTORS and PRECIS_TRANSCRIPTS
	PRECIS_ALL=1 $(GO) test -timeout 60m ./conformance -v | grep -E 'cases|messages |^(ok|FAIL|---)' 

clients: export CLIENTS_GATEWAY ?= $(GO) run ./cmd/precis gateway --listen 127.0.0.1:$$PORT --upstream $$UPSTREAM
clients: ## agent programs from npm against a small window, through the gateway of CLIENTS_GATEWAY; CLIENTS=--direct: through none
	$(GO) run ./internal/clients/cmd/clients $(CLIENTS)

integrations: ## the adapters of the folder integrations against the packages of npm: needs python3, node and npm
	PRECIS_NPM=1 $(GO) test ./cmd/precis -count=1 -v -run Integrations

vscode: ## the extension for VS Code: its tests, also against this program, and its package: needs node 20 and npm
	CI_REQUIRE_NPM=1 $(GO) test ./cmd/precis -count=1 -v -run VSCode

modules: ## the Go modules of the folder integrations, which have dependencies of their own
	@set -e; for m in integrations/go/*; do echo "== $$m"; (cd $$m && test -z "$$(gofmt -l .)" && $(GO) vet -race ./... && $(GO) test -race -vet=off ./...); done

hosts: build ## agent programs from npm with precis inside, and what reaches the model after their own compactions; HOSTS="--only codex"
	$(GO) run ./internal/clients/cmd/hosts --precis dist/precis $(HOSTS)

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

rename-module: ## give the module another path, everywhere: MODULE=example.com/you/precis
	$(GO) run ./internal/renamemodule "$(MODULE)"
	$(GO) build ./...

clean:
	rm -rf dist
