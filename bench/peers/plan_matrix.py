#!/usr/bin/env python3
"""plan_matrix.py HEATWALK WORK STORE [options]: plans beside measured peaks.

It runs each command line with `--dry-run`, then runs the command and
takes the largest resident memory that the kernel saw of it (ru_maxrss), for
each limit. A run is marked

    low      the peak is above the plan
    high     the plan is above 1.25 times the peak, and so is its required part
    between  the plan is above 1.25 times the peak, and its required part below it
    over     the peak is above the limit
    exit     the command did not end as its estimate says

Runs are cut off after so many seconds of processor time; their peak, with a
star, is only a lower bound, so they are never called high or between. The ratio
is that of the plan to the peak, or of its required part where the peak stays below
that. Lines under --floor MiB are shown but not counted, unless they are over or
exit. Command lines are those of plan_commands.txt or of --commands; the places
in braces are made in WORK when first used:

    {store} {edges} {ids}      the store, its edges as text, the ids of its nodes
    {names} {wide}             the edges with ids that are text, or of 64 bits
    {edges.gz} {edges.zst} {npz} {mtx} {parquet}
    {labels-N-C} {nodes-N}     N nodes with one of C classes; a list of N nodes
    {features} {block} {svm}   files of features and of a kernel
    {out}                      a new path, removed afterwards
"""
import argparse
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MIB = 1 << 20
CLOCK = os.sysconf("SC_CLK_TCK")


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("heatwalk")
    p.add_argument("work", type=Path)
    p.add_argument("store", type=Path)
    p.add_argument("--commands", type=Path, default=Path(__file__).parent / "plan_commands.txt")
    p.add_argument("--limits", default="none,256MiB,512MiB,1GiB")
    p.add_argument("--seconds", type=float, default=8, help="of processor time, after which a run is cut off")
    p.add_argument("--only", default="", help="lines that this regular expression finds")
    p.add_argument("--floor", type=float, default=64, help="MiB of peak from which runs count")
    return p.parse_args()


class Files:
    """what the places in command lines stand for"""

    def __init__(self, program, work, store):
        self.program, self.work, self.store = program, work, store
        work.mkdir(parents=True, exist_ok=True)

    def fill(self, line, out):
        return re.sub(r"\{([^}]+)\}", lambda m: str(out if m[1] == "out" else self.place(m[1])), line)

    def place(self, name):
        kind, *numbers = name.split("-")
        if kind == "store":
            return self.store
        if kind == "ids":
            return f"{self.place('edges')}.ids"
        endings = {
            "edges": ".tsv", "npz": ".npz", "mtx": ".mtx", "parquet": ".parquet",
            "features": ".npy", "block": ".npy", "svm": ".svm", "edges.gz": ".tsv.gz", "edges.zst": ".tsv.zst",
        }
        path = self.work / f"{self.store.name}-{name.partition('.')[0]}{endings.get(name, '.tsv')}"
        if not path.exists():
            self.make(kind, [int(v) for v in numbers], path)
        return path

    def make(self, kind, numbers, path):
        if kind in ("edges", "npz", "mtx", "parquet", "edges.gz", "edges.zst"):
            self.run("convert", self.store, "-o", path)
        elif kind in ("names", "wide"):
            prefix = "node" if kind == "names" else "9000000000"
            with open(path, "wb") as f:
                subprocess.run(["sed", rf"s/^/{prefix}/;s/\t/\t{prefix}/", self.place("edges")], stdout=f, check=True)
        elif kind in ("labels", "nodes"):
            self.draw(path, *numbers)
        elif kind == "features":
            self.run("features", self.store, "--labels", self.place("labels-1000-5"), "--steps", "5", "-o", path)
        elif kind in ("block", "svm"):
            chosen = self.place("nodes-1000")
            self.run("kernel", self.store, "--kernel", "p-step", "--rows", chosen, "--cols", chosen, "--steps", "2", "-o", path)
        else:
            sys.exit(f"plan_matrix.py: nothing is known of {{{kind}}}")

    def draw(self, path, nodes, classes=0):
        """nodes, with one of so many classes of falling size"""
        with open(self.place("ids")) as f:
            count = sum(1 for _ in f)
        rng = random.Random(nodes * 1000 + classes)
        chosen = set(rng.sample(range(count), min(nodes, count)))
        weights = [1 / (1 + c) for c in range(classes)]
        with open(self.place("ids")) as f, open(path, "w") as g:
            for i, name in enumerate(f):
                if i in chosen:
                    label = "\tclass%d" % rng.choices(range(classes), weights)[0] if classes else ""
                    g.write(name.rstrip("\n") + label + "\n")

    def run(self, *arguments):
        subprocess.run([self.program, *(str(a) for a in arguments), "--quiet"], check=True, stdout=subprocess.DEVNULL)


def processor_seconds(pid):
    """what a process has used, of which nobody has waited yet"""
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / CLOCK


def measure(command, seconds, directory):
    """runs a command; its exit code (None: cut off), peak in bytes, and what it said of an error

    The kernel counts the pages of the process that started it into the peak of a
    new one, so this program must stay smaller than what it measures."""
    with open(directory / "stderr", "w+") as errors:
        p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        cut = False
        while True:
            pid, status, usage = os.wait4(p.pid, os.WNOHANG)
            if pid:
                break
            time.sleep(0.02)
            if not cut and processor_seconds(p.pid) > seconds:
                cut = True
                p.send_signal(signal.SIGINT)
        p.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        said = errors.read().strip().rpartition("\n")[2]
    return None if cut and p.returncode == 130 else p.returncode, usage.ru_maxrss * 1024, said


def estimate(program, command):
    """the plan of a command, or its exit code"""
    p = subprocess.run([program, *command, "--dry-run", "--json"], capture_output=True, text=True)
    return (p.returncode, json.loads(p.stdout)) if p.returncode == 0 else (p.returncode, None)


def flags(limit, code, planned, plan, sure, peak, planner):
    found = []
    if plan and peak > plan:
        found.append("low")
    if plan and code == 0 and plan > 1.25 * peak and not peak <= sure <= 1.25 * peak:
        found.append("high" if sure > peak else "between")
    if limit and peak > limit:
        found.append("over")
    if planner and code is not None and code != planned or code not in (None, 0, 5):
        found.append(f"exit {planned}, {code}" if planner else f"exit {code}")
    return found


def main():
    a = parse()
    files = Files(a.heatwalk, a.work, a.store.resolve())
    units = {"KiB": 1 << 10, "MiB": MIB, "GiB": 1 << 30}
    planners = "ingest info verify classify evaluate features kernel eigen generate convert".split()
    lines = [l.strip() for l in a.commands.read_text().splitlines() if l.strip() and not l.startswith("#")]
    tally = dict.fromkeys(("runs", "small", "refused", "cut", "planned", "within", "sure", "between", "high", "low", "over", "exit"), 0)
    print(f"{'limit':>7} {'plan':>6} {'sure':>6} {'peak':>7} {'ratio':>5}  command; MiB", flush=True)
    for limit in a.limits.split(","):
        size = 0 if limit == "none" else int(limit[:-3]) * units[limit[-3:]]
        for line in lines:
            if a.only and not re.search(a.only, line):
                continue
            directory = Path(tempfile.mkdtemp(dir=a.work))
            command = shlex.split(files.fill(line, directory / "out")) + ([] if limit == "none" else ["--max-memory", limit])
            planner = command[0] in planners
            planned, doc = estimate(a.heatwalk, command) if planner else (0, None)
            code, peak, said = measure([a.heatwalk, *command, "--quiet"], a.seconds, directory)
            shutil.rmtree(directory, ignore_errors=True)
            plan, sure = (doc["memory_bytes"], doc["required_bytes"]) if doc else (0, 0)
            found = flags(size, code, planned, plan, sure, peak, planner)
            tally["runs"] += 1
            for f in found:
                tally[f.split()[0]] += peak >= a.floor * MIB or f.split()[0] in ("over", "exit")
            if code == 5:
                tally["refused"] += 1
            elif code is None:
                tally["cut"] += 1
            if plan and peak < a.floor * MIB:
                tally["small"] += 1
            elif plan and code == 0:
                tally["planned"] += 1
                tally["within"] += peak <= plan <= 1.25 * peak
                tally["sure"] += peak <= sure <= 1.25 * peak < plan
            numbers = f"{plan / MIB:6.0f} {sure / MIB:6.0f}" if plan else f"{'-':>6} {'-':>6}"
            star = "*" if code is None else " "
            ratio = f"{(sure if peak <= sure else plan) / peak:5.2f}" if plan else "     "
            note = f"  refused: {said}" if code == 5 else f"  {said}" if code not in (None, 0) else ""
            print(f"{limit:>7} {numbers} {peak / MIB:6.0f}{star} {ratio}  {line}{''.join(f'  <{f}>' for f in found)}{note}", flush=True)
    print(", ".join(f"{k} {v}" for k, v in tally.items()))


main()
