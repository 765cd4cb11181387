<?php
declare(strict_types=1);

/**
 * Twenty processes and one counter in a file, which is read and written back
 * under the lock. Two holders at a time would lose updates.
 *
 * NOQUORUM is no failure here: on a machine that stands still for a moment no
 * master answers in time, and a contender asks again. It is counted, though.
 */
final class Counter
{
    private const CONTENDERS = 20;
    private const SECONDS = 5;
    private const LEAST = 30; // if there are fewer by then it goes on
    private const TTL_MS = 5_000;

    private readonly string $dir;

    /** @var list<int> */
    private array $contenders = [];

    private int $without_quorum = 0;

    /** The contenders go on while this process does other things. */
    public function __construct(private readonly Library $library)
    {
        $this->dir = sys_get_temp_dir() . '/counter-' . bin2hex(random_bytes(8));
        mkdir($this->dir, 0700);
        file_put_contents("$this->dir/counter", '0');
        $end = microtime(true) + self::SECONDS;
        for ($i = 0; $i < self::CONTENDERS; $i++) {
            $pid = pcntl_fork();
            expect($pid >= 0, 'no further process can be forked');
            if ($pid === 0) {
                $this->contend($i, $end);
                exit(0);
            }
            $this->contenders[] = $pid;
        }
    }

    public function wait(): void
    {
        foreach ($this->contenders as $pid) {
            pcntl_waitpid($pid, $status);
        }
    }

    /** Says what was run, or throws. */
    public function verdict(): string
    {
        $held = $without = 0;
        try {
            for ($i = 0; $i < self::CONTENDERS; $i++) {
                $done = file_get_contents("$this->dir/done.$i");
                expect(sscanf($done, '%d %d', $h, $w) === 2, $done);
                $held += $h;
                $without += $w;
            }
            $counted = (int) file_get_contents("$this->dir/counter");
        } finally {
            array_map(unlink(...), glob("$this->dir/*"));
            rmdir($this->dir);
        }
        expect($held === $counted, "held $held times, counted $counted: updates were lost");

        return "$held guarded increments by " . self::CONTENDERS . " contenders ($without times NOQUORUM)";
    }

    private function contend(int $number, float $end): void
    {
        $held = 0;
        try {
            $lock = ($this->library->contender)("{$this->library->name}:counter");
            while (microtime(true) < $end || (int) file_get_contents("$this->dir/counter") < self::LEAST) {
                if ($this->ask(fn () => $lock->wait(self::TTL_MS) ?? true) === null) {
                    continue;
                }
                $this->add_one();
                $held++;
                $this->give_back($lock);
            }
            $done = "$held $this->without_quorum";
        } catch (Throwable $e) {
            $done = whole_message($e);
        }
        file_put_contents("$this->dir/done.$number", $done);
    }

    /**
     * A release that had no quorum may have been carried out all the same: then
     * there is nothing left for the next one.
     */
    private function give_back(Contender $lock): void
    {
        for ($asked = 1; ; $asked++) {
            $released = $this->ask(fn () => $lock->release());
            if ($released || ($released === false && $asked > 1)) {
                return;
            }
            expect($released === null, 'the holder could not release it');
        }
    }

    /** Null where there was no quorum. */
    private function ask(Closure $what): ?bool
    {
        try {
            return $what();
        } catch (Throwable $e) {
            if (!str_contains(whole_message($e), 'NOQUORUM ')) {
                throw $e;
            }
            $this->without_quorum++;
            usleep(random_int(20_000, 60_000));

            return null;
        }
    }

    private function add_one(): void
    {
        $holder = @fopen("$this->dir/holder", 'x');
        expect($holder !== false, 'two held it together');
        $value = (int) file_get_contents("$this->dir/counter");
        usleep(1000);
        file_put_contents("$this->dir/counter", (string) ($value + 1));
        fclose($holder);
        unlink("$this->dir/holder");
    }
}
