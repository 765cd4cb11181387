"""Runs every scenario for the libraries named: matrix.py HOST PORT LIBRARY...

A library is a module beside this one whose subjects(host, port) are the ways in
which it is used. A subject has a name and

    acquire(key, ttl)  one attempt, ttl in milliseconds: what stands for the
                       lock, or None if somebody has it
    release(held)      True, False if it was refused, None if the library does
                       not tell
    extend(held, ttl)  the same
    wait(key, ttl)     where a release wakes who waits: the lock, when it is free
    flush_scripts()    SCRIPT FLUSH through the proxy
    contend(key, contenders, until, counter)
                       many contenders, each the way the library's own
                       documentation shows, until the monotonic clock says so
    close()

and CAN_EXTEND, where it cannot. One that is too unlike these has scenarios of its
own instead, by quiet() and loud(): what is run, and how.
"""

import importlib
import sys
import threading
import traceback

import counter
import scenarios


# How many counters run at a time: they wait more than they work.
SIDE_BY_SIDE = 3


def say(line):
    # One write, for more than one counter may speak.
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def groups(subjects):
    for i in range(0, len(subjects), SIDE_BY_SIDE):
        yield subjects[i : i + SIDE_BY_SIDE]


def attempt(verdicts, subject, what, run):
    try:
        verdicts[subject].append((run() or what, None))
    except Exception as e:
        traceback.print_exc()
        verdicts[subject].append((what, f"{type(e).__name__}: {e}".replace("\n", " ")))


def several(verdicts, subject, table):
    for what, run in table:
        attempt(verdicts, subject, what, run)


def together(subjects, do):
    threads = [threading.Thread(target=do, args=(s,)) for s in subjects]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def count(verdicts, subject):
    say(f"counter begins {subject.name}")
    try:
        attempt(verdicts, subject, counter.WHAT, lambda: counter.run(subject))
    finally:
        say(f"counter ends {subject.name}")


def report(verdicts):
    failed = False
    for subject, results in verdicts.items():
        for what, why in results:
            if why:
                say(f"FAIL {subject.name}: {what}: {why}")
                failed = True
        passed = [what for what, why in results if not why]
        if len(passed) == len(results):
            say(f"ok {subject.name}: {', '.join(passed)}")
    return failed


def main(host, port, libraries):
    subjects = [s for name in libraries for s in importlib.import_module(name).subjects(host, int(port))]
    verdicts = {s: [] for s in subjects}
    together(subjects, lambda s: several(verdicts, s, s.quiet() if hasattr(s, "quiet") else scenarios.quiet(s)))
    # One after the other: SCRIPT FLUSH is felt by everybody.
    for s in subjects:
        several(verdicts, s, s.loud() if hasattr(s, "loud") else scenarios.loud(s))
    for some in groups(subjects):
        together(some, lambda s: count(verdicts, s))
    for s in subjects:
        s.close()
    return report(verdicts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
