<?php
declare(strict_types=1);

use Illuminate\Cache\RedisStore;
use Illuminate\Contracts\Cache\Lock;
use Illuminate\Redis\Connections\PhpRedisConnection;
use Illuminate\Redis\RedisManager;

/** Laravel's cache over Redis, with the configuration that a new application has. */
function laravel_store(string $driver, string $host, int $port): RedisStore
{
    $server = ['url' => null, 'host' => $host, 'password' => null, 'port' => $port];
    $manager = new RedisManager(null, $driver, [
        'options' => ['cluster' => 'redis', 'prefix' => 'laravel_database_'],
        'default' => $server + ['database' => '0'],
        'cache' => $server + ['database' => '1'],
    ]);

    return (new RedisStore($manager, 'laravel_cache', 'cache'))->setLockConnection('default');
}

final class LaravelContender implements Contender
{
    private Lock $lock;

    public function __construct(private readonly RedisStore $store, private readonly string $key)
    {
        $this->lock = $store->lock($key);
    }

    public function take(int $ttl_ms): bool
    {
        $this->lock = $this->store->lock($this->key, intdiv($ttl_ms, 1000));

        return $this->answer(fn () => $this->lock->get());
    }

    public function wait(int $ttl_ms): void
    {
        $this->lock = $this->store->lock($this->key, intdiv($ttl_ms, 1000));
        $this->answer(fn () => $this->lock->block(60));
    }

    public function release(): bool
    {
        return $this->answer(fn () => $this->lock->release());
    }

    /** As another process does that was told of the owner. */
    public function release_of(self $other): bool
    {
        $lock = $this->store->restoreLock($this->key, $other->lock->owner());

        return $this->answer(fn () => $lock->release());
    }

    public function force_release(): void
    {
        $this->answer(fn () => $this->lock->forceRelease());
    }

    public function held(): bool
    {
        $value = $this->answer(fn () => $this->store->lockConnection()->get($this->store->getPrefix() . $this->key));

        return $value === $this->lock->owner();
    }

    public function forget_scripts(): void
    {
        $this->answer(fn () => $this->store->lockConnection()->script('flush'));
    }

    /** With phpredis, an error looks like a refusal, unless it is asked for. */
    private function answer(Closure $ask): mixed
    {
        $connection = $this->store->lockConnection();
        if (!$connection instanceof PhpRedisConnection) {
            return $ask();
        }
        $connection->client()->clearLastError();
        $reply = $ask();
        if (!$reply && null !== $error = $connection->client()->getLastError()) {
            throw new RedisException($error);
        }

        return $reply;
    }
}

/** Seconds that are 0 mean a lock without an end. */
function laravel_forever(string $name, Closure $contender): void
{
    [$a, $b] = [$contender("$name:forever"), $contender("$name:forever")];
    expect($a->take(0), 'a free lock was refused');
    expect(!$b->take(0), 'it was had by two');
    $b->force_release();
    expect($b->take(0), 'it was refused after its release');
    expect(!$a->release(), 'a stranger released it');
    expect($a->release_of($b), 'who was told of the owner could not release it');
    expect(!$b->held(), 'the lock is there after its release');
}

/** Many lock with Cache::add alone. */
function laravel_add(string $name, RedisStore $a, RedisStore $b): void
{
    expect($a->add("$name:add", 'a', 10), 'a free key was refused');
    expect(!$b->add("$name:add", 'b', 10), 'it was had by two');
    expect($b->get("$name:add") === 'a', 'the loser wrote its value');
    expect(!$a->lockConnection()->exists($a->getPrefix() . "$name:add"), 'it is in database 0');
    expect($a->forget("$name:add"), 'it could not be forgotten');
    expect($b->add("$name:add", 'b', 10), 'it was refused after it was forgotten');
    expect($b->forget("$name:add"), 'it could not be forgotten by the second');
}

/** @return list<Library> */
function laravel_libraries(string $host, int $port): array
{
    $libraries = [];
    foreach (['phpredis', 'predis'] as $driver) {
        $name = "laravel+$driver";
        $store = fn () => laravel_store($driver, $host, $port);
        $contender = fn (string $key) => new LaravelContender($store(), $key);
        $libraries[] = new Library($name, strtok(getenv('ILLUMINATE'), '+'), $contender, 1000, [
            'without an end, forceRelease, restoreLock' => fn () => laravel_forever($name, $contender),
            'Cache::add in database 1' => fn () => laravel_add($name, $store(), $store()),
        ]);
    }

    return $libraries;
}
