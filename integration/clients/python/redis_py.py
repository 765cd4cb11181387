"""redis-py's Lock, as `client.lock(name, timeout)`, blocking and asyncio."""

import asyncio
import time

import redis
import redis.asyncio
from redis.exceptions import LockError

import contenders


def seconds(ttl):
    return ttl / 1000


class Blocking:
    CAN_EXTEND = True

    def __init__(self, host, port, protocol):
        self.name = f"redis-py {redis.__version__} RESP{protocol}"
        self.client = redis.Redis(host=host, port=port, protocol=protocol)

    def acquire(self, key, ttl):
        lock = self.client.lock(key, timeout=seconds(ttl))
        if not lock.acquire(blocking=False):
            return None
        if not (lock.owned() and lock.locked()):
            raise LockError("an acquired lock is neither owned nor locked")
        return lock

    def release(self, lock):
        try:
            lock.release()
        except LockError:
            return False
        return True

    def extend(self, lock, ttl):
        try:
            # Both of redis-py's ways to live longer.
            return lock.extend(seconds(ttl), replace_ttl=True) and lock.extend(1) and lock.reacquire()\
                and lock.extend(seconds(ttl), replace_ttl=True)
        except LockError:
            return False

    def flush_scripts(self):
        self.client.script_flush()

    def contend(self, key, n, until, counter):
        def contender():
            while time.monotonic() < until:
                with self.client.lock(key, timeout=10):
                    counter.add()

        contenders.threads(n, contender)

    def close(self):
        self.client.close()


class Asyncio:
    """The same calls, awaited on a loop of its own."""

    CAN_EXTEND = True

    def __init__(self, host, port, protocol):
        self.name = f"redis-py {redis.__version__} asyncio RESP{protocol}"
        self.client = redis.asyncio.Redis(host=host, port=port, protocol=protocol)
        self.loop = asyncio.new_event_loop()

    def _do(self, coroutine):
        return self.loop.run_until_complete(coroutine)

    def acquire(self, key, ttl):
        lock = self.client.lock(key, timeout=seconds(ttl))
        if not self._do(lock.acquire(blocking=False)):
            return None
        if not (self._do(lock.owned()) and self._do(lock.locked())):
            raise LockError("an acquired lock is neither owned nor locked")
        return lock

    def release(self, lock):
        try:
            self._do(lock.release())
        except LockError:
            return False
        return True

    def extend(self, lock, ttl):
        try:
            return self._do(lock.extend(seconds(ttl), replace_ttl=True)) and self._do(lock.reacquire())\
                and self._do(lock.extend(seconds(ttl), replace_ttl=True))
        except LockError:
            return False

    def flush_scripts(self):
        self._do(self.client.script_flush())

    def contend(self, key, n, until, counter):
        async def contender():
            while time.monotonic() < until:
                async with self.client.lock(key, timeout=10):
                    await counter.add_async()

        self._do(contenders.tasks(n, contender))

    def close(self):
        self._do(self.client.aclose())
        self.loop.close()


def subjects(host, port):
    return [way(host, port, protocol) for protocol in (2, 3) for way in (Blocking, Asyncio)]
