# Recipes for people who work on machinepool. `just` alone lists them.
# The inner loop leaves the AWS SDK out (--no-default-features): it builds in about a minute, the whole in many.

lean := "--locked --no-default-features"

_list:
    @just --list

# What must hold before a change goes in, without the AWS adapter; CI runs .ci/run.
check: && test docs
    cargo fmt --check
    cargo clippy {{lean}} --all-targets -- -D warnings

# All tests that need no AWS adapter; arguments go to cargo test.
test *args:
    cargo test {{lean}} {{args}}

# All tests with the AWS adapter.
test-all *args:
    cargo test --locked {{args}}

# Every fault at every call of every story, in the sandbox, with a table; minutes of work.
chaos:
    cargo test {{lean}} --test sandbox -- chaos::whole::everything_converges --exact --ignored --nocapture

# Format.
fmt:
    cargo fmt

# Accept what the views print now, and bring the tables of the README up to date. Read the difference afterwards.
golden:
    INSTA_UPDATE=always INSTA_FORCE_PASS=1 MACHINEPOOL_BLESS=1 cargo test {{lean}} --no-fail-fast
    git diff --stat

# A pool's life in the sandbox, from nothing to nothing.
demo file=`mktemp -u -t machinepool-demo-XXXXXX.json`:
    cargo build {{lean}}
    {{binary}} plan --sandbox {{file}} -var-file testdata/demo.tfvars.json
    {{binary}} apply -auto-approve --sandbox {{file}} -var-file testdata/demo.tfvars.json
    {{binary}} outputs --format table --sandbox {{file}} -var-file testdata/demo.tfvars.json
    {{binary}} destroy -auto-approve --sandbox {{file}} -var-file testdata/demo.tfvars.json
    rm -f {{file}}

target_dir := absolute_path(env("CARGO_TARGET_DIR", "target"))
binary := target_dir / "debug/machinepool"

# Pictures of plan, apply, status and a roll of the demo pool in the sandbox: docs/images/*.svg. Takes a minute.
screens:
    .ci/screens

# Licences, sources, advisories and second TLS stacks among the dependencies; needs cargo-deny, and the network for
# the advisories. `just deny licenses bans sources` does without.
deny *checks:
    cargo deny --locked check {{checks}}

# Fuzz a target (inputs, state, planfile, root, backend) for so many seconds; needs cargo-fuzz and a nightly Rust.
# What it finds interesting is kept in the target directory, not in the corpus of the repository.
fuzz target seconds="60":
    mkdir -p {{target_dir}}/fuzz/corpus/{{target}}
    cargo +nightly fuzz run --target-dir {{target_dir}}/fuzz {{target}} {{target_dir}}/fuzz/corpus/{{target}} \
        fuzz/corpus/{{target}} -- -max_total_time={{seconds}} -max_len=65536 -timeout=10 -rss_limit_mb=2048

# API documentation; a broken link is an error.
docs:
    RUSTDOCFLAGS="-D warnings" cargo doc {{lean}} --no-deps

# What the program costs, beside Terraform, into docs/performance.md. Needs a quiet machine and, once, many minutes.
# `--only PART` prints a part of it: refresh, start-up, applies, calls, distance, crowds, sizes or instructions.
bench *args="--write":
    cargo rustc --locked --release --bin machinepool -- $(.ci/static release)
    cargo bench {{lean}} --profile dev --bench performance -- --binary {{target_dir}}/release/machinepool {{args}}

# The image for `spec.source.image`, static and small: docs/image.md. Needs buildah, and takes many minutes.
image:
    .ci/image release

# The same image, larger and sooner, and a proof that it works; needs root.
image-dev:
    .ci/image-smoke "$(.ci/image dev)"
