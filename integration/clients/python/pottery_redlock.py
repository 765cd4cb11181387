"""pottery's Redlock and AIORedlock, which count the proxy as their one master."""

import asyncio
import importlib.metadata
import time

import redis
import redis.asyncio
from pottery import AIORedlock, Redlock
from pottery.exceptions import ExtendUnlockedLock, ReleaseUnlockedLock

import contenders

VERSION = importlib.metadata.version("pottery")


def seconds(ttl):
    return ttl / 1000


class Blocking:
    CAN_EXTEND = True

    def __init__(self, host, port):
        self.name = f"pottery {VERSION} Redlock"
        self.client = redis.Redis(host=host, port=port)

    def _lock(self, key, ttl):
        return Redlock(key=key, masters={self.client}, auto_release_time=seconds(ttl), raise_on_redis_errors=True)

    def acquire(self, key, ttl):
        lock = self._lock(key, ttl)
        if not lock.acquire(blocking=False):
            return None
        if not lock.locked():
            raise ReleaseUnlockedLock("an acquired lock is not locked")
        return lock

    def release(self, lock):
        try:
            lock.release()
        except ReleaseUnlockedLock:
            return False
        return True

    def extend(self, lock, ttl):
        # It extends by what it was made with.
        lock.auto_release_time = seconds(ttl)
        try:
            lock.extend()
        except ExtendUnlockedLock:
            return False
        return True

    def flush_scripts(self):
        self.client.script_flush()

    def contend(self, key, n, until, counter):
        def contender():
            while time.monotonic() < until:
                with self._lock(key, 10_000):
                    counter.add()

        contenders.threads(n, contender)

    def close(self):
        self.client.close()


class Asyncio:
    CAN_EXTEND = True

    def __init__(self, host, port):
        self.name = f"pottery {VERSION} AIORedlock"
        self.client = redis.asyncio.Redis(host=host, port=port)
        self.loop = asyncio.new_event_loop()

    def _do(self, coroutine):
        return self.loop.run_until_complete(coroutine)

    def _lock(self, key, ttl):
        return AIORedlock(key=key, masters={self.client}, auto_release_time=seconds(ttl), raise_on_redis_errors=True)

    def acquire(self, key, ttl):
        lock = self._lock(key, ttl)
        if not self._do(lock.acquire(blocking=False)):
            return None
        if not self._do(lock.locked()):
            raise ReleaseUnlockedLock("an acquired lock is not locked")
        return lock

    def release(self, lock):
        try:
            self._do(lock.release())
        except ReleaseUnlockedLock:
            return False
        return True

    def extend(self, lock, ttl):
        lock.auto_release_time = seconds(ttl)
        try:
            self._do(lock.extend())
        except ExtendUnlockedLock:
            return False
        return True

    def flush_scripts(self):
        self._do(self.client.script_flush())

    def contend(self, key, n, until, counter):
        async def contender():
            while time.monotonic() < until:
                async with self._lock(key, 10_000):
                    await counter.add_async()

        self._do(contenders.tasks(n, contender))

    def close(self):
        self._do(self.client.aclose())
        self.loop.close()


def subjects(host, port):
    return [Blocking(host, port), Asyncio(host, port)]
