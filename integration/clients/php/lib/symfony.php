<?php
declare(strict_types=1);

use Symfony\Component\Lock\Exception\LockConflictedException;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\LockInterface;
use Symfony\Component\Lock\Store\RedisStore;

final class SymfonyContender implements Extender
{
    private LockInterface $lock;

    /** @param Redis|Predis\Client $redis */
    public function __construct(private readonly object $redis, private readonly string $key)
    {
        $this->lock = $this->create(300_000);
    }

    private function create(int $ttl_ms): LockInterface
    {
        return (new LockFactory(new RedisStore($this->redis)))->createLock($this->key, $ttl_ms / 1000, false);
    }

    public function take(int $ttl_ms): bool
    {
        return ($this->lock = $this->create($ttl_ms))->acquire();
    }

    public function read(int $ttl_ms): bool
    {
        return ($this->lock = $this->create($ttl_ms))->acquireRead();
    }

    /** Makes a writer of the reader that it is. */
    public function promote(): bool
    {
        return $this->lock->acquire();
    }

    public function wait(int $ttl_ms): void
    {
        ($this->lock = $this->create($ttl_ms))->acquire(true);
    }

    public function release(): bool
    {
        $held = $this->held();
        $this->lock->release();

        return $held;
    }

    public function extend(int $ttl_ms): bool
    {
        try {
            $this->lock->refresh($ttl_ms / 1000);
        } catch (LockConflictedException) {
            return false;
        }

        return true;
    }

    public function held(): bool
    {
        return $this->lock->isAcquired();
    }

    public function forget_scripts(): void
    {
        $this->redis->script('flush');
    }
}

/** A sorted set has room for many readers, and for one writer alone. */
function symfony_readers(string $name, Closure $contender): void
{
    [$a, $b, $c] = array_map(fn () => $contender("$name:readers"), range(1, 3));
    expect($a->read(10_000), 'a free lock was refused to a reader');
    expect($b->read(10_000), 'a second reader was refused');
    expect(!$b->promote(), 'a reader became the writer while there was another reader');
    expect(!$c->take(10_000), 'a writer had it while there were readers');
    expect($a->release(), 'the first reader could not release it');
    expect(!$c->take(10_000), 'a writer had it while there was a reader');
    expect($b->promote(), 'the last reader could not become the writer');
    expect(!$a->read(10_000), 'a reader had it while there was a writer');
    expect($b->release(), 'the writer could not release it');
    expect($c->take(10_000), 'it was refused after its release');
    expect($c->release(), 'the last writer could not release it');
}

/** @return list<Library> */
function symfony_libraries(string $host, int $port): array
{
    $drivers = [
        'phpredis' => function () use ($host, $port): Redis {
            $redis = new Redis();
            $redis->connect($host, $port);

            return $redis;
        },
        'predis' => fn (): Predis\Client => new Predis\Client(['host' => $host, 'port' => $port]),
    ];
    $libraries = [];
    foreach ($drivers as $driver => $connect) {
        $name = "symfony/lock+$driver";
        $contender = fn (string $key) => new SymfonyContender($connect(), $key);
        $libraries[] = new Library($name, strtok(getenv('SYMFONY_LOCK'), '+'), $contender, 600, [
            'readers share, a writer is alone' => fn () => symfony_readers($name, $contender),
        ]);
    }

    return $libraries;
}
