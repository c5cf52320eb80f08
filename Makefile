# SPDX-License-Identifier: Apache-2.0
# Verbs; CMake does the work. Those that call tools/setup install what is missing first.
JOBS := $(shell nproc)
CLANG := clang-14
CONFIGURE := cmake -S . -G "Unix Makefiles"
SANITIZED := build/sanitized
THREADS := build/threads
COVERAGE := build/coverage
# ON: tests do all they can, as in `make check`
FULL := OFF
sources = $(shell git ls-files '*.c' '*.h')

.PHONY: all python octave demo dist test test-kernels test-threads test-compilers test-arm64 check soak sanitized build-sanitized coverage docs pictures gallery papers fmt lint bench bench-gpu table clean golden

# What the page of reports is made from, where there is npm to fetch it; an archive brings the page.
PAGE := web/node_modules/.package-lock.json
ifeq ($(wildcard web/page.html),)
ifneq ($(and $(wildcard web/package-lock.json),$(shell command -v npm)),)
build/Makefile: | $(PAGE)
endif
endif

all: build/Makefile
	cmake --build build -j$(JOBS)

$(PAGE): web/package-lock.json
	cd web && npm ci --no-audit --no-fund
	touch $@

build/Makefile: CMakeLists.txt
	$(CONFIGURE) -B build

# trundle for Octave, in build/octave.
octave:
	tools/setup octave
	$(CONFIGURE) -B build
	cmake --build build -j$(JOBS) --target octave
	@echo "In Octave:  addpath $(CURDIR)/build/octave"

# build/trundle-VERSION.tar.gz, from which reports are built without npm.
dist: all
	tools/dist build/page.html build

demo:
	tools/setup demo
	$(MAKE) all
	build/trundle simulate models/bicycle.yaml --every 0.02 -o build/bicycle.csv --report build/bicycle.html
	@echo "The numbers are in build/bicycle.csv, how the run went in build/bicycle.json, and"
	@echo "the report, which any browser opens, is $(CURDIR)/build/bicycle.html"

# A wheel, for pip install; build/python is the same as a folder for PYTHONPATH.
python:
	tools/setup python
	$(MAKE) all
	TRUNDLE_BUILD=$(CURDIR)/build /usr/bin/python3 python/backend.py build

test:
	tools/setup test
	$(CONFIGURE) -B build -DTR_FULL=$(FULL)
	$(MAKE) all
	$(MAKE) sanitized
	ctest --test-dir build --output-on-failure -j$(JOBS) -LE sanitized

# The tests under the address and undefined-behaviour sanitizers, and the fuzz targets.
sanitized: build-sanitized
	ctest --test-dir $(SANITIZED) --output-on-failure -j$(JOBS)

build-sanitized:
	$(CONFIGURE) -B $(SANITIZED) -DCMAKE_C_COMPILER=$(CLANG) -DTR_SANITIZE=ON -DTR_FUZZ=ON -DTR_FULL=$(FULL) \
	    -DTR_FUZZ_SECONDS=$(or $(FUZZ_SECONDS),2) \
	    -DTR_PAGE=$$(test ! -f build/page.html || echo $(CURDIR)/build/page.html)
	cmake --build $(SANITIZED) -j$(JOBS)

# Both builds' tests of numbers with every kind of kernels that OpenBLAS would choose on some
# processor, with its threads, and with Debian's own libblas and liblapack; and how near their
# bounds the tests come.
test-kernels:
	tools/setup check
	$(MAKE) all
	$(MAKE) build-sanitized
	tools/test_kernels build $(SANITIZED)

# Plans, runs and programs that threads share, under the thread sanitizer.
test-threads:
	tools/setup test
	$(CONFIGURE) -B $(THREADS) -DCMAKE_C_COMPILER=$(CLANG) -DTR_THREAD_SANITIZE=ON \
	    -DTR_PAGE=$$(test ! -f build/page.html || echo $(CURDIR)/build/page.html)
	cmake --build $(THREADS) -j$(JOBS) --target stepping_test program_test sweep_task_test threads variants
	ctest --test-dir $(THREADS) --output-on-failure -R '^(stepping_test|program_test|sweep_task_test|example_threads|example_variants)$$'

# All C with gcc 11 and 12, clang 13 and 14; any warning is an error.
test-compilers:
	tools/setup check
	$(MAKE) all
	tools/compilers build

# The library, its interpreter and exported C on AArch64, by a cross compiler and an emulator.
test-arm64:
	tools/setup check
	$(MAKE) all
	tools/arm64 build build/arm64

# Which lines of src/ the tests execute; docs/coverage.md says why some are left.
coverage:
	tools/setup check
	$(MAKE) all
	$(CONFIGURE) -B $(COVERAGE) -DTR_COVERAGE=ON -DTR_FULL=ON \
	    -DTR_PAGE=$$(test ! -f build/page.html || echo $(CURDIR)/build/page.html)
	cmake --build $(COVERAGE) -j$(JOBS)
	find $(COVERAGE) -name '*.gcda' -delete
	ctest --test-dir $(COVERAGE) --output-on-failure -j$(JOBS) -E '^(page|papers)$$'
	tools/coverage $(COVERAGE)

check: lint
	tools/setup check
	$(MAKE) test FULL=ON FUZZ_SECONDS=$(or $(FUZZ_SECONDS),300)
	$(MAKE) test-kernels FULL=ON
	$(MAKE) test-threads
	$(MAKE) test-compilers
	$(MAKE) test-arm64

# An hour on two processors: fuzzing, random mechanisms against multipliers, long runs. SOAK has
# options of tools/soak.
soak:
	tools/setup test
	$(MAKE) all
	$(MAKE) build-sanitized
	tools/soak $(SOAK) build $(SANITIZED)

# What is generated from the code.
docs: all
	build/format_reference > docs/format.md
	build/command_reference > docs/commands.md

# The pictures of the README and of the tour, by the commands they show, and those of the pages.
pictures:
	tools/setup test
	$(MAKE) all
	build/trundle simulate models/bicycle.yaml --case turn --every 0.02 -q -o build/turn.csv --report build/turn.html
	build/trundle simulate models/hopping_wheel.yaml -q -o build/hop.csv
	build/trundle simulate models/sk8o.yaml --case balance -q -o build/sk8o.csv --report build/sk8o.html
	build/trundle simulate models/flapper.yaml --case fly -q -o build/fly.csv --report build/fly.html
	build/trundle linearise models/bicycle.yaml --case straight --sweep speed0=0:10:0.05 -q -o build/speeds.csv --plot docs/bicycle_speeds.svg
	build/trundle steady models/bicycle.yaml --case circle --sweep roll=-0.02:-0.5:0.01 -q -o build/circles.csv
	build/trundle plot build/circles.csv -x roll -y speed -q -o docs/bicycle_circles.svg
	build/trundle plot build/turn.csv --track rear,front --to 4 -q -o docs/bicycle_track.svg
	build/trundle plot build/hop.csv -y gap -y slip --to 2 -q -o docs/hopping_wheel.svg
	build/trundle simulate models/robot_satellite.yaml --case drive -q -o build/log.csv
	build/trundle simulate models/robot_satellite.yaml --case drive --filter -q -o build/fixes.csv
	build/trundle plot build/log.csv build/fixes.csv --track -q -o docs/robot_satellite.svg
	node web/screenshot.mjs build/turn.html docs/bicycle_report.png
	node web/screenshot.mjs build/sk8o.html docs/sk8o.png 0.18 scene
	node web/screenshot.mjs build/fly.html docs/flapper.png 0.18 scene
	PYTHONPATH=build/python /usr/bin/python3 tests/pages_test.py build/trundle . yes pictures

# docs/models: what is missing or out of date of the bundled models' pages, pictures and plots.
gallery:
	tools/setup test
	$(MAKE) all
	tools/gallery.py

# The papers' numbers, tables and figures, rerun; fails when one of them is not met.
papers:
	tools/setup test
	$(MAKE) all
	tools/papers.py

golden: all # what check says, plot draws and equations cost, byte for byte: read the difference
	tests/doctor_test.sh $(CURDIR)/build/trundle $(CURDIR) golden
	build/tests/plot_test golden
	build/tests/explain_test golden
	PYTHONPATH=build/python /usr/bin/python3 tests/pages_test.py build/trundle . $$(test -f build/page.html && echo yes || echo no) golden
	build/trundle_bench counts > tests/operations.txt

fmt:
	tools/setup lint
	clang-format-14 -i $(sources)

lint:
	tools/setup lint
	$(MAKE) all
	clang-format-14 --dry-run --Werror $(sources)
	tools/house build
	echo $(filter src/%.c,$(sources)) | xargs -n 3 -P $(JOBS) clang-tidy-14 --quiet -p build
	cppcheck -j$(JOBS) --quiet --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
	    --suppress=missingIncludeSystem --std=c11 -DNDEBUG -I include -I src src examples

bench:
	tools/setup demo
	$(MAKE) build/Makefile
	cmake --build build -j$(JOBS) --target trundle_bench
	build/trundle_bench

bench-gpu: # batches on the GPUs of this computer; says so where there is none
	tools/setup demo
	$(MAKE) build/Makefile
	cmake --build build -j$(JOBS) --target trundle_bench
	build/trundle_bench gpu
	build/trundle_bench gpu-sweep
	build/trundle_bench bits models/*.yaml

table: # the same as docs/bench.md
	tools/setup demo
	$(MAKE) build/Makefile
	cmake --build build -j$(JOBS) --target trundle_bench
	build/trundle_bench page > build/bench.md
	mv build/bench.md docs/bench.md

clean:
	rm -rf build
