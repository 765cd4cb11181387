"""Clients of proxies that are restarted: restart.py HOST PORT HOST PORT.

redis-py's clients, with nothing set but the address, take and release locks until the
input ends. Each key is wanted once, so each lock has to be had, and released.
"""

import collections
import sys
import threading
import uuid

import redis

CLIENTS = 50
BETWEEN_PAIRS = 0.4  # seconds
PLENTY, LONG = 20_000, 300_000  # milliseconds

RELEASE = """
if redis.call("get", KEYS[1]) == ARGV[1] then
    return redis.call("del", KEYS[1])
else
    return 0
end"""


class Refused(Exception):
    pass


class Restarted:
    def __init__(self):
        self.name = f"redis-py {redis.__version__}"
        self.mutex = threading.Lock()
        self.pairs, self.errors = 0, collections.Counter()
        self.stop = threading.Event()
        self.ready = threading.Barrier(CLIENTS + 1)

    def met(self, what, error):
        with self.mutex:
            self.errors[f"{what}: {type(error).__name__}: {error}".replace("\n", " ")] += 1

    def client(self, i, host, port):
        client = redis.Redis(host=host, port=int(port))
        release = client.register_script(RELEASE)

        def lock(key, ttl):
            token = str(uuid.uuid4())
            if not client.set(key, token, nx=True, px=ttl):
                raise Refused("it is taken")
            return token

        def unlock(key, token):
            if release(keys=[key], args=[token]) != 1:
                raise Refused("it is not held any more")

        key, token = f"restart:{self.name}:{i}", None
        n = 0
        try:
            token = lock(f"{key}:long", LONG)
        except Exception as e:
            self.met("the long lock", e)
        self.ready.wait()
        while token and not self.stop.wait(BETWEEN_PAIRS):
            try:
                n += 1
                unlock(f"{key}:{n}", lock(f"{key}:{n}", PLENTY))
                with self.mutex:
                    self.pairs += 1
            except Exception as e:
                self.met("lock or unlock", e)
        try:
            if token:
                unlock(f"{key}:long", token)
        except Exception as e:
            self.met("release the long lock", e)
        client.close()

    def run(self, addresses):
        threads = [threading.Thread(target=self.client, args=(i, *addresses[i % len(addresses)])) for i in range(CLIENTS)]
        for t in threads:
            t.start()
        self.ready.wait()
        print(f"restart begins {self.name}", flush=True)
        sys.stdin.read()
        self.stop.set()
        for t in threads:
            t.join()
        for what, times in self.errors.items():
            print(f"error {self.name}: {times} times {what}", flush=True)
        print(f"ok {self.name}: {self.pairs} locks by {CLIENTS} clients", flush=True)


if __name__ == "__main__":
    Restarted().run([sys.argv[1:3], sys.argv[3:5]])
