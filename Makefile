# make test is all a newcomer needs; the rest is for work on precis itself.

GO ?= go
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c

.PHONY: test build check race fuzz properties vectors clients bench clean

test: ## run every test
	$(GO) test ./...

build: ## build the command into ./dist
	$(GO) build -trimpath -o dist/precis ./cmd/precis

check: ## formatting and static analysis
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "gofmt would change these files"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

race: ## run every test with the race detector
	$(GO) test -race -short ./...

FUZZTIME ?= 5000x
fuzz: ## run each fuzz target for so many inputs (FUZZTIME=1m: for so long)
	@set -e; for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "fuzz $$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$pkg >/tmp/fuzz.$$$$ 2>&1 || { cat /tmp/fuzz.$$$$; exit 1; }; rm -f /tmp/fuzz.$$$$; \
	  done; \
	done

RUNS ?= 30000
properties: ## the promises, over many random conversations
	PRECIS_RUNS=$(RUNS) $(GO) test . -count=1 -run CondensingIsTakenBack
	$(GO) test . -run 'EveryPromise|Rewound|LastUserTurn|Repair' -rapid.checks=2000

vectors: ## golden cases and recordings; set PRECIS_VECTORS and PRECIS_TRANSCRIPTS
	$(GO) test ./conformance -v -count=1 | grep -E 'cases|messages |^(ok|FAIL|---)' 

clients: export CLIENTS_GATEWAY ?= $(GO) run ./cmd/precis gateway --listen 127.0.0.1:$$PORT --upstream $$UPSTREAM
clients: ## agent programs from npm against a small window, through the gateway of CLIENTS_GATEWAY; CLIENTS=--direct: through none
	$(GO) run ./internal/clients/cmd/clients $(CLIENTS)

bench: ## benchmarks
	$(GO) test -run '^$$' -bench . ./...

clean:
	rm -rf dist
