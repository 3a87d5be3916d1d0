#!/bin/sh
# Runs the open shards of a plan with GNU parallel, on this machine or on those of a login file.
#
#   run.sh STORE PLAN [OPTIONS OF parallel]     for example: run.sh "$STORE" "$PLAN" -j8 --sshloginfile hosts
#
# A shard that fails is tried again, four times in all. Exit status: 0 when all shards are complete, otherwise the number
# of failed shards (GNU parallel).
set -eu
store=$1 plan=$2
shift 2
shards=$(surfjournal work --store "$store" --plan "$plan" --list)
[ -n "$shards" ] || exit 0
printf '%s\n' "$shards" | parallel -q --retries 4 "$@" surfjournal work --store "$store" --plan "$plan" --shard {}
