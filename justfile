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

binary := env("CARGO_TARGET_DIR", "target") / "debug/machinepool"

# Pictures of plan, apply, status and a roll of the demo pool in the sandbox: docs/images/*.svg. Takes a minute.
screens:
    .ci/screens

# API documentation; a broken link is an error.
docs:
    RUSTDOCFLAGS="-D warnings" cargo doc {{lean}} --no-deps

# The image for `spec.source.image`, static and small: docs/image.md. Needs buildah, and takes many minutes.
image:
    .ci/image release

# The same image, larger and sooner, and a proof that it works; needs root.
image-dev:
    .ci/image-smoke "$(.ci/image dev)"
