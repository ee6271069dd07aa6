#!/bin/sh
# Installs entrupy-sim for all users of a development container. VERSION and REPOSITORY are the feature's options.
set -eu
command -v curl >/dev/null 2>&1 || command -v wget >/dev/null 2>&1 || {
    apt-get update
    apt-get install --yes --no-install-recommends ca-certificates curl
}
downloads=${ENTRUPY_SIM_DOWNLOADS:-$REPOSITORY/releases/download/v$VERSION}
script=$(mktemp)
trap 'rm -f "$script"' EXIT
if command -v curl >/dev/null 2>&1; then
    curl -fsSL "$downloads/install.sh" -o "$script"
else
    wget -q "$downloads/install.sh" -O "$script"
fi
ENTRUPY_SIM_DOWNLOADS=$downloads sh "$script" --to /usr/local/bin
