#!/bin/sh
# What a person with a spreadsheet does first, from the installed program: have it looked at, import it, see what is in
# the journal, correct the file, import it again, and take it back.
set -eu
examples=$(dirname "$(command -v surfjournal)")/../share/doc/surfjournal/examples
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
expect() { # expect WHAT FOUND EXPECTED
  [ "$2" = "$3" ] || { echo "$1: found '$2', expected '$3'" >&2; exit 1; }
}
entries() { surfjournal list --store journal.sqlite --csv | tail -n +2 | wc -l | tr -d ' '; }

cp "$examples/surftagebuch.csv" .
surfjournal guess surftagebuch.csv -o surftagebuch.json >looked-at.txt
surfjournal run surftagebuch.json --store journal.sqlite >first.txt || expect "exit status of the import" $? 65
first=$(entries)
[ "$first" -gt 40 ] || { echo "only $first entries were imported" >&2; cat first.txt >&2; exit 1; }
# The same file again adds nothing.
surfjournal run surftagebuch.json --store journal.sqlite --quiet
expect "entries after the same import again" "$(entries)" "$first"
# The best sessions, as a table and as a file.
surfjournal list --store journal.sqlite --where 'rating >= 4' --limit 5 >best.txt
[ "$(wc -l <best.txt)" -ge 2 ] || { echo "no session is rated 4 or better" >&2; exit 1; }
surfjournal export --store journal.sqlite --output journal.csv --quiet
expect "lines of the export" "$(wc -l <journal.csv | tr -d ' ')" "$((first + 1))"
# Taken back.
surfjournal undo journal.sqlite --yes --quiet
expect "entries after the undo" "$(entries)" 0
surfjournal verify journal.sqlite >/dev/null
echo "  the spreadsheet: $first entries in, out, and taken back"
