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
# A corrected file is not imported a second time, and the message names what to do.
sed -i 's/;windstill;2;/;windstill;3;/' surftagebuch.csv
status=0
surfjournal run surftagebuch.json --store journal.sqlite --quiet >refused.txt 2>&1 || status=$?
expect "exit status of a corrected file" "$status" 65
grep -q -- --replace refused.txt || { echo "the refusal does not name --replace" >&2; cat refused.txt >&2; exit 1; }
expect "entries after the refusal" "$(entries)" "$first"
rated() { surfjournal list --store journal.sqlite --where "wind = \"windstill\" AND rating = $1" --csv | tail -n +2 | wc -l | tr -d ' '; }
before=$(rated 3)
surfjournal run surftagebuch.json --store journal.sqlite --replace --quiet 2>replaced.txt
expect "entries after the replacement" "$(entries)" "$first"
[ "$(rated 3)" -gt "$before" ] || { echo "the correction is not in the journal" >&2; exit 1; }
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
