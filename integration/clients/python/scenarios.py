"""What one or two clients do, with every lock library alike."""

import threading
import time

LONG = 30_000
SHORT = 600


class Broken(Exception):
    """The library was not given what it would have been given by Redis."""


def expect(truth, what):
    if not truth:
        raise Broken(what)


def yes(answer):
    """A library that does not tell is taken at what others see."""
    return answer is not False


def uncontended(s, key):
    for _ in range(2):
        held = s.acquire(key, LONG)
        expect(held, "a free lock is not had")
        expect(yes(s.release(held)), "its holder cannot release it")


def two_contenders(s, key):
    first = s.acquire(key, LONG)
    expect(first, "a free lock is not had")
    expect(not s.acquire(key, LONG), "two hold the lock")
    expect(yes(s.release(first)), "its holder cannot release it")
    second = s.acquire(key, LONG)
    expect(second, "a released lock is not had")
    expect(yes(s.release(second)), "its second holder cannot release it")


def extended(s, key):
    for _ in range(20):
        begun = time.monotonic()
        held = s.acquire(key, SHORT)
        expect(held, "a free lock is not had")
        if s.extend(held, LONG):
            break
        # On a busy machine it may have come too late.
        expect(time.monotonic() - begun > SHORT / 1000, "its holder cannot extend it")
    else:
        expect(False, "no extension comes in time")
    time.sleep(1.5 * SHORT / 1000)
    expect(not s.acquire(key, LONG), "an extended lock is had by another after its first ttl")
    expect(yes(s.release(held)), "its holder cannot release what was extended")


def expiry_and_stranger(s, key):
    before = time.monotonic()
    late = s.acquire(key, SHORT)
    expect(late, "a free lock is not had")
    deadline = before + SHORT / 1000 + 5
    while not (held := s.acquire(key, LONG)):
        expect(time.monotonic() < deadline, "an expired lock is not had")
        time.sleep(0.02)
    waited = time.monotonic() - before
    expect(waited >= SHORT / 1000, f"a lock of {SHORT} ms was had by another after {waited:.3f} s")
    # Who was first is a stranger now.
    expect(not s.release(late), "one that holds it no more has released it")
    if s.CAN_EXTEND:
        expect(not s.extend(late, LONG), "one that holds it no more has extended it")
    expect(not s.acquire(key, LONG), "a stranger's release has freed the lock")
    expect(yes(s.release(held)), "its holder cannot release it")


def woken(s, key):
    held = s.acquire(key, LONG)
    expect(held, "a free lock is not had")
    had = []

    def waiter():
        lock = s.wait(key, LONG)
        had.append((lock, time.monotonic()))

    thread = threading.Thread(target=waiter, daemon=True)
    thread.start()
    time.sleep(0.5)
    expect(not had, "it was had while it was held")
    released = time.monotonic()
    expect(yes(s.release(held)), "its holder cannot release it")
    thread.join(10)  # by itself it looks when the ttl is over
    expect(had, "nobody was woken by the release")
    lock, at = had[0]
    print(f"woken {s.name}: after {(at - released) * 1000:.1f} ms", flush=True)
    expect(yes(s.release(lock)), "who was woken cannot release it")


def scripts_flushed(s, key):
    held = s.acquire(key, LONG)
    expect(held, "a free lock is not had")
    if s.CAN_EXTEND:
        s.flush_scripts()
        expect(s.extend(held, LONG), "its holder cannot extend it after SCRIPT FLUSH")
    s.flush_scripts()
    expect(yes(s.release(held)), "its holder cannot release it after SCRIPT FLUSH")
    again = s.acquire(key, LONG)
    expect(again, "a lock that was released after SCRIPT FLUSH is not had")
    expect(yes(s.release(again)), "its second holder cannot release it")


def quiet(s):
    """The scenarios that apply to s and are felt by nobody else: what is run, and how."""
    yield "lock and unlock", _run(s, uncontended)
    yield "two contenders", _run(s, two_contenders)
    if s.CAN_EXTEND:
        yield "extend", _run(s, extended)
    yield "expiry and a late release", _run(s, expiry_and_stranger)
    if hasattr(s, "wait"):
        yield "waiting woken by the message", _run(s, woken)


def loud(s):
    """Those that are."""
    yield "SCRIPT FLUSH", _run(s, scripts_flushed)


def _run(s, scenario):
    # Each has a lock of its own, so that one that breaks harms no other.
    return lambda: scenario(s, f"{s.name}: {scenario.__name__}")
