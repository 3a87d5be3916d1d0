#!/bin/sh
# What the developer of an app does, from the installed program: a seed store with three linked entities from CSV, looked
# into, exported, and the same store again from the export.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir Surf.xcdatamodel
cat >Surf.xcdatamodel/contents <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
  <entity name="Spot" representedClassName="Spot">
    <attribute name="name" attributeType="String"/>
    <relationship name="sessions" optional="YES" toMany="YES" deletionRule="Cascade" destinationEntity="Session"
      inverseName="spot" inverseEntity="Session"/>
  </entity>
  <entity name="Session" representedClassName="Session">
    <attribute name="date" attributeType="Date"/>
    <attribute name="rating" optional="YES" attributeType="Integer 16" usesScalarValueType="YES"/>
    <relationship name="spot" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Spot"
      inverseName="sessions" inverseEntity="Spot"/>
  </entity>
</model>
XML
printf 'name\nRincon\nMavericks\n' >spots.csv
printf 'date,rating,spot.name\n2026-01-02T07:00:00Z,4,Rincon\n2026-01-03T07:00:00Z,5,Rincon\n2026-01-04T07:00:00Z,3,\n' \
  >sessions.csv
surfjournal seed --model Surf.xcdatamodel --from Spot=spots.csv --from Session=sessions.csv -o Surf.sqlite --quiet
surfjournal verify Surf.sqlite --model Surf.xcdatamodel >/dev/null
surfjournal inspect Surf.sqlite --model Surf.xcdatamodel >contents.txt
grep -q Session contents.txt
found=$(surfjournal list --store Surf.sqlite --model Surf.xcdatamodel --entity Session --csv | tail -n +2 | wc -l | tr -d ' ')
[ "$found" = 3 ] || { echo "found $found sessions, expected 3" >&2; exit 1; }
surfjournal export --store Surf.sqlite --model Surf.xcdatamodel --all-entities -o out --quiet
surfjournal run out/pipeline.json --store again.sqlite --quiet
surfjournal export --store again.sqlite --model Surf.xcdatamodel --all-entities -o out2 --quiet
for file in out/*.csv; do cmp "$file" "out2/${file#out/}"; done
echo "  the app: a seed of three linked objects, out and in again"
