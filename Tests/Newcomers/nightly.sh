#!/bin/sh
# What an operator sets up and meets in 40 nights, from the installed program: a folder made by init, a file each night, a
# night without one, a bad record, a lost column, a night with no room for files, a damaged file, a file of bad records, and
# the recovery after each. A mail comes in these nights only, and names what to do; and a program hears of it when.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
surfjournal init nightly >made.txt
cd nightly
# Who hears of a run: a program that writes down the night and the event, in place of a mail.
printf '#!/bin/sh\ncat >/dev/null\necho "$(cat ../night.txt) $SURFJOURNAL_EVENT" >>../heard.txt\n' >hear
chmod +x hear
sed -i 's|^ *"log": "run.log",|  "notify": { "commands": [{ "run": "./hear" }] },\n&|' nightly.json
fail() { echo "night $night: $1" >&2; cat ../mail.txt >&2; exit 1; }
expect() { # expect WHAT FOUND EXPECTED
  [ "$2" = "$3" ] || fail "$1: found '$2', expected '$3'"
}
# Runs the night's job as cron does: what it prints goes through a pipe into a mail.
run() {
  {
    status=0
    "$@" surfjournal run "$PWD/nightly.json" --quiet || status=$?
    echo "$status" >../status.txt
  } 2>&1 | cat >../mail.txt
  status=$(cat ../status.txt)
}
plain() { "$@"; }
hears() { # hears TEXT COMPLAINT: the text is in the night's mail
  grep -qF -- "$1" ../mail.txt || fail "$2"
}
arrive() { # arrive NAME, with the file's text on standard input
  cat >"inbox/$1"
  touch -d '1 hour ago' "inbox/$1"
}
log() { # log NIGHT: three sessions of a day
  printf 'date,location,height,period,wind,rating\n'
  for hour in 07 12 18; do printf '2026-%02d-%02dT%s:00:00Z,Rincon,1.5 m,12,NW,%d\n' $(($1 / 28 + 1)) $(($1 % 28 + 1)) $hour $(($1 % 5 + 1)); done
}
entries() { surfjournal list --store journal.sqlite --csv | tail -n +2 | wc -l | tr -d ' '; }

stored=0 night=0
while [ "$night" -lt 40 ]; do
  echo "$night" >../night.txt
  case $night in
    5) # Nothing arrived.
      run plain
      expect "exit status" "$status" 0
      expect "mail" "$(cat ../mail.txt)" ""
      ;;
    10) # A record that can't be right: the others go in, the mail names it, and it is kept.
      { log 10; printf '2026-02-30T07:00:00Z,Rincon,1 m,9,N,3\n'; log 110 | tail -n +2; } | arrive "log-10.csv"
      run plain
      expect "exit status" "$status" 65
      hears 'log-10.csv:5: date' "the mail does not name the record"
      hears "surfjournal replay $PWD/rejects/" "the mail does not name the command for the rejects"
      waiting=$(surfjournal history journal.sqlite --pending | grep -c 'rejects in')
      expect "inputs with rejects that wait" "$waiting" 1
      expect "lines of rejects" "$(cat rejects/*.csv | wc -l | tr -d ' ')" 2
      # Corrected, it goes in as well.
      sed -i 's/2026-02-30/2026-02-27/' rejects/*.csv
      surfjournal replay rejects/*.csv --quiet >../mail.txt 2>&1 || fail "the corrected record is not imported"
      stored=$((stored + 7))
      ;;
    15) # A column is gone, which is said although nothing else is wrong.
      log 15 | cut -d, -f1-5 | arrive "log-15.csv"
      run plain
      hears rating "the mail does not name the column that is gone"
      stored=$((stored + 3))
      ;;
    16) # And is back, which is said too.
      log 16 | arrive "log-16.csv"
      run plain
      hears rating "the mail does not say that the column is back"
      stored=$((stored + 3))
      ;;
    20) # No file may grow: nothing is half imported, and the next night imports it.
      log 20 | arrive "log-20.csv"
      run sh -c 'ulimit -f 0; exec "$@"' night
      [ "$status" -ne 0 ] || fail "a run without room for files ended with 0"
      [ -s ../mail.txt ] || fail "a run without room for files is silent"
      expect "entries" "$(entries)" "$stored"
      ;;
    21)
      log 21 | arrive "log-21.csv"
      run plain
      expect "exit status" "$status" 0
      stored=$((stored + 6))
      ;;
    25) # A file that was cut on its way: what is there goes in, the mail names it and where it is now.
      log 25 | gzip -c >../whole.csv.gz
      head -c 100 ../whole.csv.gz | arrive "log-25.csv.gz"
      run plain
      [ "$status" -ne 0 ] || fail "a damaged file ends with 0"
      hears log-25.csv.gz "the mail does not name the damaged file"
      expect "damaged files put aside" "$(find inbox/failed -name 'log-25.csv.gz' | wc -l | tr -d ' ')" 1
      stored=$(entries)
      ;;
    26) # Delivered again, it is continued: each record is there once.
      arrive "log-25.csv.gz" <../whole.csv.gz
      run plain
      expect "exit status" "$status" 0
      expect "entries of the day" "$(surfjournal list --store journal.sqlite --where 'date >= "2026-01-26" AND date < "2026-01-27"' --csv | tail -n +2 | wc -l | tr -d ' ')" 3
      stored=$(entries)
      ;;
    30) # A file of bad records only is not imported in part: the run stops, and the file waits in failed/.
      { log 30 | head -n 1; for day in 1 2 3; do echo "2026-02-0$day,Rincon,1 m,9,N,99"; done; } | arrive "log-30.csv"
      run plain
      expect "exit status" "$status" 65
      hears 20 "the mail does not name the limit"
      hears "inbox/failed/" "the mail does not name the file's new place"
      ;;
    *)
      log $night | arrive "log-$night.csv"
      run plain
      expect "exit status" "$status" 0
      expect "mail" "$(cat ../mail.txt)" ""
      stored=$((stored + 3))
      ;;
  esac
  expect "entries" "$(entries)" "$stored"
  night=$((night + 1))
done
# A night whose files could not grow is one whose program could not write down either; the next one works again.
expect "who heard what" "$(tr '\n' ',' <../heard.txt)" \
  "10 failure,11 recovery,15 drift,16 drift,21 recovery,25 failure,26 recovery,30 failure,31 recovery,"
expect "pages of runs" "$(ls reports/*-*.html | wc -l | tr -d ' ')" 39
grep -q '40 runs, 3 of them with errors' reports/index.html || fail "the index does not have the runs"
expect "files that wait" "$(find inbox -maxdepth 1 -type f | wc -l | tr -d ' ')" 0
# A file of another form, as init advises.
examples=$(dirname "$(command -v surfjournal)")/../share/doc/surfjournal/examples
night=40
surfjournal guess "$examples/surftagebuch.csv" -o form.json >/dev/null 2>&1
sed -i 's/"extends": "surf-log"/"extends": "form.json"/' nightly.json
cp "$examples/surftagebuch.csv" inbox/
touch -d '1 hour ago' inbox/surftagebuch.csv
run plain
[ "$status" -eq 0 ] || [ "$status" -eq 65 ] || fail "the spreadsheet ends the run with $status"
[ "$(entries)" -gt "$((stored + 40))" ] || fail "the spreadsheet is not imported"
surfjournal verify journal.sqlite >/dev/null
echo "  40 nights: $stored entries, each once"
