#!/bin/sh
# Installs entrupy-sim for all users of a development container. VERSION and REPOSITORY are the feature's options.
set -eu
command -v curl >/dev/null 2>&1 || command -v wget >/dev/null 2>&1 || {
    apt-get update
    apt-get install --yes --no-install-recommends ca-certificates curl
}
# Both become parts of an address. install.sh checks them again.
case $VERSION in
"" | *[!0-9.]*)
    echo "entrupy-sim: the option version must be three numbers with dots, for instance 0.2.0, not \"$VERSION\"" >&2
    exit 1
    ;;
esac
case $REPOSITORY in
*[!A-Za-z0-9._:/-]* | [!h]* | "")
    echo "entrupy-sim: the option repository must be an address like https://github.com/OWNER/entrupy-sim, not \"$REPOSITORY\"" >&2
    exit 1
    ;;
esac
downloads=${ENTRUPY_SIM_DOWNLOADS:-$REPOSITORY/releases/download/v$VERSION}
script=$(mktemp)
trap 'rm -f "$script"' EXIT
if command -v curl >/dev/null 2>&1; then
    curl -gfsSL --connect-timeout 20 --speed-limit 1 --speed-time 60 "$downloads/install.sh" -o "$script"
else
    wget -q -t 3 -T 60 "$downloads/install.sh" -O "$script"
fi || {
    echo "entrupy-sim: $downloads/install.sh cannot be downloaded" >&2
    exit 1
}
ENTRUPY_SIM_DOWNLOADS=$downloads sh "$script" --to /usr/local/bin
