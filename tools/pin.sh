#!/usr/bin/env bash
# pin.sh [VERSION]   Writes constraints.txt, constraints-oldest.txt and constraints-aio.txt anew: all that tests, style, types
# and docs install, at its newest, with botocore and boto3 at VERSION (default: as in constraints.txt). Needs uv.
# The data has to be raised to that version, too (docs/contributing.md), and so has [build-system] in pyproject.toml.
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:-$(sed -n 's/^botocore==//p' constraints.txt)}
given=$(mktemp)
also=$(mktemp)
trap 'rm -f "$given" "$also"' EXIT

pin() { # pin FILE ARGUMENT...
  local file=$1
  shift
  uv pip compile pyproject.toml "$also" --universal --python-version 3.10 --no-annotate --quiet \
    --custom-compile-command "tools/pin.sh" --constraints "$given" --output-file "$file" "$@"
}

every=()
for extra in cli demo fleet idl otel serve store store-postgresql; do every+=(--extra "$extra"); done
for group in test lint type docs package; do every+=(--group "$group"); done
printf 'tox\nhatchling\n' > "$also"
printf 'boto3==%s\nbotocore==%s\n' "$version" "$version" > "$given"
pin constraints.txt "${every[@]}"

: > "$also"
printf 'boto3==1.34.0\nbotocore==1.34.0\njmespath==1.0.1\nwrapt==1.15.0\n' > "$given"
pin constraints-oldest.txt --extra cli --group test

printf 'httpx2\n' > "$also"
: > "$given"
pin constraints-aio.txt --extra aio --extra cli --group test
