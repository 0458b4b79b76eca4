#!/usr/bin/env bash
# pin.sh   Writes constraints.txt, constraints-oldest.txt and constraints-aio.txt anew: all that tests, style, types and docs
# install, at its newest, but boto3, botocore and hatchling as pyproject.toml pins them for the build. Needs uv.
# `tox run -e raise` runs it, since `data/` has to be raised to a new botocore, too.
set -euo pipefail
cd "$(dirname "$0")/.."
given=$(mktemp)
also=$(mktemp)
trap 'rm -f "$given" "$also"' EXIT

pin() { # pin FILE ARGUMENT...
  local file=$1
  shift
  echo "# tools/pin.sh" > "$file"
  uv pip compile pyproject.toml "$also" --universal --python-version 3.10 --no-header --no-annotate --quiet \
    --constraints "$given" "$@" >> "$file"
}

names() { # names TABLE   The keys of a table of pyproject.toml.
  sed -n "/^\[$1\]/,/^$/s/ = .*//p" pyproject.toml
}

every=()
for extra in $(names project.optional-dependencies | grep -v '^aio$'); do every+=(--extra "$extra"); done
for group in $(names dependency-groups); do every+=(--group "$group"); done
sed -n '/^\[build-system\]/,/^requires/ s/^requires = //p' pyproject.toml | grep -o '[a-z0-9]*==[0-9.]*' > "$given"
printf 'hatchling\ntox\n' > "$also"
pin constraints.txt "${every[@]}"

# The oldest that pyproject.toml allows.
printf 'boto3==1.34.0\nbotocore==1.34.0\njmespath==1.0.1\nwrapt==1.15.0\n' > "$given"
: > "$also"
pin constraints-oldest.txt --extra cli --group test

# aiobotocore decides about botocore.
: > "$given"
echo httpx2 > "$also"
pin constraints-aio.txt --extra aio --extra cli --group test
