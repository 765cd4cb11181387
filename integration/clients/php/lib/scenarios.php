<?php
declare(strict_types=1);

const TTL_MS = 10_000;

/**
 * What is asked of a library, each scenario with a key of its own.
 *
 * @return array<string, Closure(): void>
 */
function scenarios(Library $library): array
{
    $with_two = fn (string $key, Closure $run): Closure => function () use ($library, $key, $run): void {
        $two = fn () => ($library->contender)("$library->name:$key");
        $run($two(), $two(), $library->shortest_ms);
    };
    $all = [
        'lock and unlock' => $with_two('plain', lock_and_unlock(...)),
        'two contenders, one wins' => $with_two('two', one_wins(...)),
        'release by a stranger is refused' => $with_two('stranger', stranger(...)),
        'expiry frees it' => $with_two('expiry', expiry(...)),
        'NOSCRIPT path' => $with_two('noscript', noscript(...)),
    ];
    if (($library->contender)("$library->name:none") instanceof Extender) {
        $all['extend'] = $with_two('extend', extend(...));
    }

    return $all + $library->extras;
}

function lock_and_unlock(Contender $a): void
{
    expect($a->take(TTL_MS), 'a free lock was refused');
    expect($a->held(), 'the lock is not there once it is had');
    expect($a->release(), 'the holder could not release it');
    expect(!$a->held(), 'the lock is there after its release');
    expect(!$a->release(), 'it was released twice');
}

function one_wins(Contender $a, Contender $b): void
{
    expect($a->take(TTL_MS), 'a free lock was refused');
    expect(!$b->take(TTL_MS), 'it was had by two');
    expect($a->release(), 'the holder could not release it');
    expect($b->take(TTL_MS), 'it was refused after its release');
    expect($b->release(), 'the second holder could not release it');
}

function stranger(Contender $a, Contender $b): void
{
    expect($a->take(TTL_MS), 'a free lock was refused');
    expect(!$b->release(), 'a stranger released it');
    expect($a->held(), 'the holder lost it to a stranger');
    expect($a->release(), 'the holder could not release it');
}

function extend(Extender $a, Extender $b, int $short_ms): void
{
    expect($a->take($short_ms), 'a free lock was refused');
    expect(!$b->extend(TTL_MS), 'a stranger extended it');
    expect($a->extend(TTL_MS), 'the holder could not extend it');
    usleep(($short_ms + 200) * 1000);
    expect(!$b->take(TTL_MS), 'it ended although it was extended');
    expect($a->release(), 'the holder could not release it');
    expect(!$a->extend(TTL_MS), 'it was extended after its release');
}

function expiry(Contender $a, Contender $b, int $short_ms): void
{
    $begun = hrtime(true);
    $after = fn (): float => (hrtime(true) - $begun) / 1e6;
    expect($a->take($short_ms), 'a free lock was refused');
    while (!$b->take(TTL_MS)) {
        expect($after() < 5 * $short_ms, 'it did not end');
        usleep(20_000);
    }
    // A Redis reads its clock to the millisecond.
    expect($after() >= $short_ms - 1, 'it was free before its ttl');
    expect(!$a->release(), "the first holder released what is another's now");
    expect($b->release(), 'the second holder could not release it');
}

function noscript(Contender $a, Contender $b): void
{
    expect($a->take(TTL_MS), 'a free lock was refused');
    $b->forget_scripts();
    if ($a instanceof Extender) {
        expect($a->extend(TTL_MS), 'the holder could not extend it');
        $b->forget_scripts();
    }
    expect($a->release(), 'the holder could not release it');
    expect(!$a->held(), 'the lock is there after its release');
}
