"""walrus's Lock, whose contenders wait by BLPOP for what a release pushes."""

import importlib.metadata
import time

import walrus

import contenders


class WalrusLock:
    CAN_EXTEND = False

    def __init__(self, host, port):
        self.name = f"walrus {importlib.metadata.version('walrus')}"
        self.client = walrus.Database(host=host, port=port)

    def acquire(self, key, ttl):
        lock = self.client.lock(key, ttl=ttl)
        return lock if lock.acquire(block=False) else None

    def wait(self, key, ttl):
        lock = self.client.lock(key, ttl=ttl)
        lock.acquire()
        return lock

    def release(self, lock):
        return lock.release()

    def flush_scripts(self):
        self.client.script_flush()

    def contend(self, key, n, until, counter):
        def contender():
            while time.monotonic() < until:
                with contenders.bears_doubt(), self.client.lock(key, ttl=10_000):
                    counter.add()

        contenders.threads(n, contender)

    def close(self):
        self.client.close()


def subjects(host, port):
    return [WalrusLock(host, port)]
