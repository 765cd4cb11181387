"""redlock-py, which counts the proxy as its one server."""

import importlib.metadata
import time

import redis
from redlock import Redlock

import contenders


class RedlockPy:
    CAN_EXTEND = False

    def __init__(self, host, port):
        self.name = f"redlock-py {importlib.metadata.version('redlock-py')}"
        server = [{"host": host, "port": port, "db": 0}]
        self.manager = Redlock(server)
        # One attempt, for those who ask whether it is held.
        self.impatient = Redlock(server, retry_count=1, retry_delay=0.001)
        self.client = redis.Redis(host=host, port=port)

    def acquire(self, key, ttl):
        return self.impatient.lock(key, ttl) or None

    def release(self, lock):
        return self.manager.unlock(lock)

    def flush_scripts(self):
        self.client.script_flush()

    def contend(self, key, n, until, counter):
        def contender():
            while time.monotonic() < until:
                lock = self.manager.lock(key, 10_000)
                if lock:
                    counter.add()
                    self.manager.unlock(lock)

        contenders.threads(n, contender)

    def close(self):
        self.client.close()


def subjects(host, port):
    return [RedlockPy(host, port)]
