#!/usr/bin/env python3
"""Runs the open shards of a plan of surfjournal on a Spark cluster.

    spark-submit surfjournal_spark.py --store postgresql://loader@db/journal --plan ID [options]

Only the numbers of shards pass through Spark. Each task runs `surfjournal work` for one shard, which reads its part of
the input and writes to the store. A task may be repeated, may run twice at the same time, and may be killed at any
moment: the ledger in the store says what was saved, and `work` succeeds only when the ledger has the whole shard.

Every executor needs the program surfjournal, the inputs under the same paths as the planner, and libpq. Passwords
belong in the file that PGPASSFILE names (`--conf spark.executorEnv.PGPASSFILE=...`), and never in the address.

Exit status: 0 when all shards are complete, otherwise 1; with --report that of `surfjournal report`.
"""

import argparse
import ctypes
import signal
import subprocess
import sys

from pyspark.sql import SparkSession

# How much of the messages of a failed shard becomes the error of its task.
MESSAGE_BYTES_MAX = 4000


def end_with_parent():
    """Lets the kernel end the program when the Python worker that started it ends, also by SIGKILL."""
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def run_shard(command, shard):
    """Runs one shard to its end; raises an error with the program's messages if it is not complete then."""
    done = subprocess.run(
        command + ["--shard", str(shard)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=end_with_parent)
    if done.returncode != 0:
        messages = done.stderr[-MESSAGE_BYTES_MAX:].decode(errors="replace").strip()
        raise RuntimeError(f"shard {shard} ended with {done.returncode}: {messages}")


def shard_runner(command, shards):
    """The function that Spark calls on the executors, with positions in the list of shards."""

    def run(batches):
        for batch in batches:
            for position in batch.column(0).to_pylist():
                run_shard(command, shards[position])
            yield batch

    return run


def open_shards(command):
    """The numbers of the shards that are not complete, as the ledger has them now."""
    listed = subprocess.run(command + ["--list"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    if listed.returncode != 0:
        sys.exit(listed.returncode)
    return [int(line) for line in listed.stdout.split()]


def main():
    parser = argparse.ArgumentParser(
        description="Runs the open shards of a plan of surfjournal on a Spark cluster.",
        epilog="What follows -- is given to 'surfjournal work' as it is.")
    parser.add_argument("--store", required=True, help="the address of the store, without a password")
    parser.add_argument("--plan", required=True, help="the plan's ID, as 'surfjournal plan' printed it")
    parser.add_argument("--surfjournal", default="surfjournal", help="the program on the driver and the executors")
    parser.add_argument("--report", action="append", default=[], metavar="FILE",
                        help="when all shards are complete, close the plan and write a report; may be repeated")
    parser.add_argument("--rejects", metavar="FILE", help="where --report writes rejected records")
    parser.add_argument("options", nargs="*", metavar="OPTION", help="further options of 'surfjournal work'")
    arguments = parser.parse_args()

    plan = ["--store", arguments.store, "--plan", arguments.plan]
    command = [arguments.surfjournal, "work", *plan, *arguments.options]
    shards = open_shards(command)
    if shards:
        spark = SparkSession.builder.appName(f"surfjournal {arguments.plan}").getOrCreate()
        # One shard a task, so that a failure repeats one shard.
        tasks = spark.range(0, len(shards), 1, len(shards))
        done = tasks.mapInArrow(shard_runner(command, shards), "id long").count()
        spark.stop()
        print(f"{done} shards are complete.", file=sys.stderr)
    if arguments.report:
        reports = [word for path in arguments.report for word in ("--report", path)]
        rejects = ["--rejects", arguments.rejects] if arguments.rejects else []
        sys.exit(subprocess.run([arguments.surfjournal, "report", *plan, *reports, *rejects]).returncode)


if __name__ == "__main__":
    main()
