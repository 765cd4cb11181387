<?php
declare(strict_types=1);

/**
 * The classic lock class over one server: SET NX PX, and scripts that compare
 * the token before they touch the key. How a driver is called is left to those
 * that extend it.
 */
abstract class Classic implements Extender
{
    private const RELEASE = '
        if redis.call("GET", KEYS[1]) == ARGV[1] then
            return redis.call("DEL", KEYS[1])
        else
            return 0
        end
    ';

    private const EXTEND = '
        if redis.call("GET", KEYS[1]) == ARGV[1] then
            return redis.call("PEXPIRE", KEYS[1], ARGV[2])
        else
            return 0
        end
    ';

    private string $token = 'none';

    public function __construct(protected readonly string $key)
    {
    }

    /** True or false where the server said OK or nil. */
    abstract protected function set(string $token, int $ttl_ms): bool;

    abstract protected function get(): ?string;

    /** By its sha, and in full where the server does not know it. */
    abstract protected function script(string $script, string ...$arguments): mixed;

    public function take(int $ttl_ms): bool
    {
        $this->token = bin2hex(random_bytes(20));

        return $this->set($this->token, $ttl_ms);
    }

    public function wait(int $ttl_ms): void
    {
        while (!$this->take($ttl_ms)) {
            usleep(random_int(20_000, 60_000));
        }
    }

    public function release(): bool
    {
        return $this->yes($this->script(self::RELEASE, $this->token));
    }

    public function extend(int $ttl_ms): bool
    {
        return $this->yes($this->script(self::EXTEND, $this->token, (string) $ttl_ms));
    }

    public function held(): bool
    {
        return $this->get() === $this->token;
    }

    private function yes(mixed $reply): bool
    {
        expect($reply === 0 || $reply === 1, 'a script was answered ' . var_export($reply, true));

        return $reply === 1;
    }
}

final class ClassicOverPhpredis extends Classic
{
    private readonly Redis $redis;

    public function __construct(string $host, int $port, string $key)
    {
        parent::__construct($key);
        $this->redis = new Redis();
        $this->redis->connect($host, $port, 5.0, null, 0, 5.0);
    }

    protected function set(string $token, int $ttl_ms): bool
    {
        return $this->answer(fn () => $this->redis->set($this->key, $token, ['NX', 'PX' => $ttl_ms]));
    }

    protected function get(): ?string
    {
        $value = $this->answer(fn () => $this->redis->get($this->key));

        return $value === false ? null : $value;
    }

    protected function script(string $script, string ...$arguments): mixed
    {
        $arguments = [$this->key, ...$arguments];
        try {
            return $this->answer(fn () => $this->redis->evalSha(sha1($script), $arguments, 1));
        } catch (RedisException $e) {
            if (!str_starts_with($e->getMessage(), 'NOSCRIPT ')) {
                throw $e;
            }
        }

        return $this->answer(fn () => $this->redis->eval($script, $arguments, 1));
    }

    public function forget_scripts(): void
    {
        $this->answer(fn () => $this->redis->script('flush'));
    }

    /** phpredis says false to nil and to an error. */
    private function answer(Closure $ask): mixed
    {
        $this->redis->clearLastError();
        $reply = $ask();
        if ($reply === false && null !== $error = $this->redis->getLastError()) {
            throw new RedisException($error);
        }

        return $reply;
    }
}

final class ClassicOverPredis extends Classic
{
    private readonly Predis\Client $redis;

    public function __construct(string $host, int $port, string $key)
    {
        parent::__construct($key);
        $this->redis = new Predis\Client(['host' => $host, 'port' => $port]);
    }

    protected function set(string $token, int $ttl_ms): bool
    {
        $reply = $this->redis->set($this->key, $token, 'PX', $ttl_ms, 'NX');
        expect($reply === null || $reply == 'OK', "SET was answered $reply");

        return $reply !== null;
    }

    protected function get(): ?string
    {
        return $this->redis->get($this->key);
    }

    protected function script(string $script, string ...$arguments): mixed
    {
        try {
            return $this->redis->evalsha(sha1($script), 1, $this->key, ...$arguments);
        } catch (Predis\Response\ServerException $e) {
            if ($e->getErrorType() !== 'NOSCRIPT') {
                throw $e;
            }
        }

        return $this->redis->eval($script, 1, $this->key, ...$arguments);
    }

    public function forget_scripts(): void
    {
        $this->redis->script('flush');
    }
}

/** @return list<Library> */
function classic_libraries(string $host, int $port): array
{
    return [
        new Library('phpredis', phpversion('redis'), fn (string $key) => new ClassicOverPhpredis($host, $port, $key)),
        new Library('predis', Predis\Client::VERSION, fn (string $key) => new ClassicOverPredis($host, $port, $key)),
    ];
}
