<?php
// PHP's lock libraries through the proxy, for all that a lock is asked to do.
// They are not modified, and are told nothing but the address.
//
// usage: php main.php HOST PORT
declare(strict_types=1);
// What the libraries themselves do is deprecated here and there.
error_reporting(E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED);
set_error_handler(function (int $level, string $text, string $file, int $line): bool {
    if (!($level & error_reporting())) {
        return true;
    }
    throw new ErrorException($text, 0, $level, $file, $line);
});

require_once 'Predis/autoload.php';
require_once 'Symfony/Component/Lock/autoload.php';
require_once 'Illuminate/Cache/autoload.php';
require_once 'Illuminate/Redis/autoload.php';
require_once 'Illuminate/Contracts/autoload.php';
foreach (['contender', 'classic', 'symfony', 'laravel', 'scenarios', 'counter'] as $file) {
    require_once __DIR__ . "/lib/$file.php";
}

if ($argc !== 3) {
    fwrite(STDERR, "usage: php main.php HOST PORT\n");
    exit(2);
}
[, $host, $port] = $argv;
$libraries = [...classic_libraries($host, (int) $port), ...symfony_libraries($host, (int) $port), ...laravel_libraries($host, (int) $port)];

function say(string $line): void
{
    fwrite(STDOUT, $line . "\n");
}

$failed = false;
$passed = [];
$judge = function (Library $library, string $what, Closure $run) use (&$failed, &$passed): void {
    try {
        $passed[$library->name][] = $run();
    } catch (Throwable $e) {
        $failed = true;
        $passed[$library->name]['failed'] = '';
        say("FAIL $library->name $library->version: $what: " . preg_replace('/\s+/', ' ', whole_message($e)));
    }
};

foreach ($libraries as $library) {
    foreach (scenarios($library) as $what => $run) {
        $judge($library, $what, function () use ($run, $what): string {
            $run();
            return $what;
        });
    }
}
// No connection of this process must be seen by those that it forks.
unset($run);
gc_collect_cycles();

$counters = [];
foreach ($libraries as $library) {
    say("counter begins $library->name");
    $counters[$library->name] = new Counter($library);
}
foreach ($libraries as $library) {
    $counters[$library->name]->wait();
    say("counter ends $library->name");
}
foreach ($libraries as $library) {
    $judge($library, 'guarded counter', fn (): string => $counters[$library->name]->verdict());
    if (!isset($passed[$library->name]['failed'])) {
        say("ok $library->name $library->version: " . implode(', ', $passed[$library->name]));
    }
}
exit($failed ? 1 : 0);
