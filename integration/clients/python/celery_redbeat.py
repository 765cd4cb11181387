"""celery-redbeat's schedulers, of which the one that has the lock beats: each tick extends it, and sends what is due."""

import importlib.metadata
import threading
import time
import types

import celery
from redbeat import schedulers
from redis.exceptions import LockError

import contenders
from scenarios import expect

LONG = 30
SHORT = 2


class RedBeat:
    def __init__(self, host, port):
        self.name = f"celery-redbeat {importlib.metadata.version('celery-redbeat')}"
        self.app = celery.Celery(broker="memory://")
        self.app.conf.update(
            redbeat_redis_url=f"redis://{host}:{port}/0",
            beat_schedule={"often": {"task": "often", "schedule": 0.1}},
        )

    def scheduler(self, key, timeout):
        # It asks for the lock again after max_interval, which is minutes by default.
        return schedulers.RedBeatScheduler(self.app, lock_key=key, lock_timeout=timeout, max_interval=0.05)

    def begin(self, scheduler):
        """What celery does before the first tick, which ends when the scheduler has the lock."""
        schedulers.acquire_distributed_beat_lock(sender=types.SimpleNamespace(scheduler=scheduler))

    def flush_scripts(self):
        schedulers.get_redis(self.app).script_flush()

    def quiet(self):
        yield "one beats, the next when it ends", lambda: self.takes_turns(f"{self.name}: turns")
        yield "kept by its ticks", lambda: self.kept_by_ticks(f"{self.name}: ticks")

    def loud(self):
        yield "SCRIPT FLUSH", lambda: self.scripts_flushed(f"{self.name}: flushed")

    def takes_turns(self, key):
        first = self.scheduler(key, LONG)
        self.begin(first)
        with Standby(self, key) as standby:
            expect(not standby.begun.wait(0.5), "two beat")
            first.tick()
            expect(first.lock.owned(), "the one that beats has no lock")
            first.close()
            expect(standby.begun.wait(5), "the lock of one that has ended is not had")

    def kept_by_ticks(self, key):
        first = self.scheduler(key, SHORT)
        self.begin(first)
        with Standby(self, key) as standby:
            until = time.monotonic() + 2 * SHORT
            while time.monotonic() < until:
                expect(not standby.begun.is_set(), "two beat")
                last = time.monotonic()
                first.tick()
                time.sleep(0.1)
            expect(standby.begun.wait(5 * SHORT), "the lock of one that beats no more is not had")
            waited = time.monotonic() - last
            expect(waited >= SHORT, f"a lock of {SHORT} s was had by another after {waited:.3f} s")
            try:
                first.tick()
            except LockError:
                pass
            else:
                expect(False, "one that holds the lock no more has extended it")
            first.close()
            expect(standby.scheduler.lock.locked(), "a stranger's end has freed the lock")

    def scripts_flushed(self, key):
        s = self.scheduler(key, LONG)
        self.begin(s)
        self.flush_scripts()
        s.tick()
        self.flush_scripts()
        s.close()
        again = schedulers.get_redis(self.app).lock(key, timeout=LONG)
        expect(again.acquire(blocking=False), "a lock that was released after SCRIPT FLUSH is not had")
        again.release()

    def contend(self, key, n, until, counter):
        def contender():
            while time.monotonic() < until:
                s = self.scheduler(key, LONG)
                self.begin(s)
                counter.add()
                s.close()

        contenders.threads(n, contender)

    def close(self):
        schedulers.get_redis(self.app).close()


class Standby:
    """A scheduler that waits for the lock, on a thread of its own, for locks belong to threads; and then ends."""

    def __init__(self, subject, key):
        self.subject = subject
        self.scheduler = subject.scheduler(key, LONG)
        self.begun = threading.Event()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        self.subject.begin(self.scheduler)
        self.begun.set()
        self.over.wait()
        self.scheduler.close()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join(10)


def subjects(host, port):
    return [RedBeat(host, port)]
