"""Many contenders guard a counter that knows nothing of locks."""

import asyncio
import time

CONTENDERS = 20
SECONDS = 5
ENOUGH = 24  # if there are fewer by then it goes on
WHAT = f"counter of {CONTENDERS} contenders for {SECONDS} s"


class LostUpdate(Exception):
    pass


class Counter:
    """Read, a pause, write: two at a time lose an update."""

    def __init__(self):
        self.value = 0
        self.increments = 0
        self.inside = 0

    def _enter(self):
        self.inside += 1
        if self.inside > 1:
            raise LostUpdate(f"{self.inside} hold the lock at once")
        return self.value

    def _leave(self, read):
        self.value = read + 1
        self.increments += 1
        self.inside -= 1

    def add(self):
        read = self._enter()
        time.sleep(0.002)
        self._leave(read)

    async def add_async(self):
        read = self._enter()
        await asyncio.sleep(0.002)
        self._leave(read)


def run(subject):
    c = Counter()
    while c.value < ENOUGH:
        subject.contend(f"{subject.name}: counter", CONTENDERS, time.monotonic() + SECONDS, c)
    if c.value != c.increments:
        raise LostUpdate(f"{c.increments} increments made {c.value}")
    return f"{WHAT} ({c.value} increments, none lost)"
