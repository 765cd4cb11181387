"""Many of the same, at the same time."""

import asyncio
import contextlib
import threading

import redis


def threads(n, contender):
    """Runs contender n times; the first error of one of them is raised."""
    errors = []

    def one():
        try:
            contender()
        except BaseException as e:
            errors.append(e)

    all_of_them = [threading.Thread(target=one) for _ in range(n)]
    for t in all_of_them:
        t.start()
    for t in all_of_them:
        t.join()
    if errors:
        raise errors[0]


@contextlib.contextmanager
def bears_doubt():
    """Goes on where nobody knows what became of a command: a release that crosses a master's death."""
    try:
        yield
    except redis.exceptions.ResponseError as e:
        if not str(e).startswith("NOQUORUM"):
            raise


async def tasks(n, contender):
    await asyncio.gather(*(contender() for _ in range(n)))
