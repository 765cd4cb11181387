<?php
declare(strict_types=1);

/**
 * One that wants a lock, with a connection of its own. An answer that is
 * neither yes nor no is thrown.
 */
interface Contender
{
    /** Tries once. */
    public function take(int $ttl_ms): bool;

    /** Tries until it has the lock, in the way of its library. */
    public function wait(int $ttl_ms): void;

    /** Says whether it was the holder. */
    public function release(): bool;

    public function held(): bool;

    public function forget_scripts(): void;
}

/** A contender of a library that can extend a lock. */
interface Extender extends Contender
{
    public function extend(int $ttl_ms): bool;
}

/** A library, or one over the driver that is named after the plus sign. */
final class Library
{
    /**
     * @param Closure(string $key): Contender $contender
     * @param int $shortest_ms the shortest ttl that it can ask for, or a handy one
     * @param array<string, Closure(): void> $extras what it alone can do
     */
    public function __construct(
        public readonly string $name,
        public readonly string $version,
        public readonly Closure $contender,
        public readonly int $shortest_ms = 600,
        public readonly array $extras = [],
    ) {
    }
}

function expect(bool $true, string $why): void
{
    if (!$true) {
        throw new RuntimeException($why);
    }
}

/** Libraries wrap what a server said into an exception of their own. */
function whole_message(Throwable $e): string
{
    $previous = $e->getPrevious();

    return $e->getMessage() . ($previous ? ' (' . whole_message($previous) . ')' : '');
}
