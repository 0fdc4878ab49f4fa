# gjc-index: every target works on a fresh clone with Go and make.
GO      ?= go
BIN     := bin/gjc-index
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
FUZZTIME ?= 10s
CORPUS  ?= .bench
SOAK    ?= 10m

export CGO_ENABLED ?= 0

.PHONY: all build demo test race lint check cross fuzz bench corpus golden kills torture soak bench-record bench-compare vuln man dist pictures clean

all: build

build: ## the command, in bin/
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/gjc-index

demo: build ## the main job, shown on a store that is made for it
	@./testdata/demo.sh $(BIN)

check: ## gofmt, vet, staticcheck, cross builds; the house tests are part of test
	@out=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go' | while read -r f; do [ -f "$$f" ] && echo "$$f"; done)); \
	  if [ -n "$$out" ]; then echo "gofmt would change:"; echo "$$out"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) test ./internal/house
	@$(MAKE) --no-print-directory cross

cross: ## vet and build for the other platforms
	GOOS=windows GOARCH=amd64 $(GO) vet ./...
	GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	GOOS=windows GOARCH=amd64 $(GO) build -o /dev/null ./cmd/gjc-index
	GOOS=darwin GOARCH=arm64 $(GO) build -o /dev/null ./cmd/gjc-index

lint: check

test: check ## everything that must hold
	$(GO) test ./...

race: ## the suite under the race detector (wants a C compiler)
	CGO_ENABLED=1 GORACE=atexit_sleep_ms=0 $(GO) test -race -timeout 60m ./...

golden: ## rewrite the golden files; read the diff
	$(GO) test ./... -run Golden -update

fuzz: ## each fuzz target for FUZZTIME
	@for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "== $$pkg $$f"; \
	    $(GO) test $$pkg -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) || exit 1; \
	  done; \
	done

corpus: ## the generated homes S, M and L in .bench/
	$(GO) run ./internal/corpus/cmd -size S $(CORPUS)/S
	$(GO) run ./internal/corpus/cmd -size M $(CORPUS)/M
	$(GO) run ./internal/corpus/cmd -size L $(CORPUS)/L

bench: build ## every promised figure, measured; writes BENCH.md
	{ printf "# Figures\n\nMade by \`make bench\`. Each promise is a ratio or a limit; misses are shown as they are.\n\n"; $(GO) run ./internal/bench -command $(BIN) -dir $(CORPUS) -size S,M,L; } > BENCH.md.new
	mv BENCH.md.new BENCH.md

bench-record: ## measure the rooms' benchmarks and record them in internal/bench/recorded.txt
	internal/bench/compare.sh record

bench-compare: ## measure them again; what became over 10 % worse is named, and fails
	internal/bench/compare.sh

vuln: ## known faults of what is linked in (asks vuln.go.dev)
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...

kills: ## processes killed at random while they write the index; long random histories
	GJC_INDEX_KILLS=200 GJC_INDEX_WORLDS=200 $(GO) test ./index -run 'Kill|RefreshEqualsRebuild' -count=1 -timeout 60m

torture: build ## each writing command fails, is killed, runs out of disk at each operation; SQLite's own operations fail
	GJC_TORTURE=all $(GO) test ./cmd/gjc-index -run 'TestTorture$$' -count=1 -timeout 120m -v | grep -vE '^ *(=== |--- PASS)'
	internal/torture/run.sh $(BIN)

soak: ## many processes on one home for SOAK; nothing may be lost
	GJC_SOAK=$(SOAK) $(GO) test ./cmd/gjc-index -run 'TestSoak$$' -count=1 -timeout 120m -v

man: build ## the manual pages, in dist/man/
	mkdir -p dist/man
	$(BIN) man --dir dist/man

dist: ## static binaries for each platform with checksums, in dist/; what is promised of them is checked
	$(GO) run ./internal/release -version $(VERSION) -dir dist

pictures: ## the pictures of the README, drawn of what the command prints on the demo store
	UPDATE_PICTURES=1 $(GO) test ./cmd/gjc-index -run PicturesAreTrue -count=1

clean:
	rm -rf bin dist $(CORPUS)
