"""python-redis-lock, whose contenders wait by BLPOP for what a release pushes."""

import importlib.metadata
import logging
import math
import time

import redis
import redis_lock

import contenders


logging.getLogger("redis_lock").setLevel(logging.ERROR)  # it warns of each refusal


class PythonRedisLock:
    CAN_EXTEND = True

    def __init__(self, host, port):
        self.name = f"python-redis-lock {importlib.metadata.version('python-redis-lock')}"
        self.client = redis.StrictRedis(host=host, port=port)

    def acquire(self, key, ttl):
        lock = redis_lock.Lock(self.client, key, expire=math.ceil(ttl / 1000))
        return lock if lock.acquire(blocking=False) else None

    def wait(self, key, ttl):
        lock = redis_lock.Lock(self.client, key, expire=math.ceil(ttl / 1000))
        lock.acquire()
        return lock

    def release(self, lock):
        try:
            lock.release()
        except redis_lock.NotAcquired:
            return False
        return True

    def extend(self, lock, ttl):
        try:
            lock.extend(math.ceil(ttl / 1000))
        except redis_lock.NotAcquired:
            return False
        return True

    def flush_scripts(self):
        self.client.script_flush()

    def contend(self, key, n, until, counter):
        def contender():
            while time.monotonic() < until:
                with contenders.bears_doubt(), redis_lock.Lock(self.client, key, expire=10):
                    counter.add()

        contenders.threads(n, contender)

    def close(self):
        self.client.close()


def subjects(host, port):
    return [PythonRedisLock(host, port)]
