package clients;

import static clients.Stage.PLENTY;
import static clients.Stage.free;
import static clients.Stage.had;
import static clients.Stage.held;
import static clients.Stage.hold;

import clients.Contender.Lease;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * ShedLock's provider over Spring Data. By default it releases and extends whoever holds the lock; with safe updates
 * it asks for its token. It never says that a release was refused.
 */
final class ShedLock implements Library {
    private final boolean safe;
    private final List<LettuceConnectionFactory> programs;
    private final AtomicInteger contenders = new AtomicInteger();

    ShedLock(String host, int port, boolean safe) {
        this.safe = safe;
        // The contenders are threads of two programs.
        programs = List.of(new LettuceConnectionFactory(host, port), new LettuceConnectionFactory(host, port));
        programs.forEach(p -> {
            p.afterPropertiesSet();
            p.start();
        });
    }

    @Override
    public String name() {
        return safe ? "shedlock/safe-update" : "shedlock";
    }

    @Override
    public String version() {
        return Library.version(RedisLockProvider.class, "net.javacrumbs.shedlock", "shedlock-provider-redis-spring");
    }

    @Override
    public boolean tells() {
        return false;
    }

    @Override
    public List<Scenario> scenarios() {
        Scenario least = new Scenario("kept for lockAtLeastFor", ShedLock::keptForAWhile);
        return safe
                ? List.of(Scenarios.LOCK, Scenarios.TWO, Scenarios.STRANGER, Scenarios.EXTEND, Scenarios.EXPIRY, least)
                : List.of(Scenarios.LOCK, Scenarios.TWO, Scenarios.EXTEND, Scenarios.EXPIRY, least);
    }

    @Override
    public Contender contender() {
        LettuceConnectionFactory program = programs.get(contenders.getAndIncrement() % programs.size());
        return new Task(new RedisLockProvider.Builder(program).environment("matrix").safeUpdate(safe).build());
    }

    @Override
    public void close() {
        programs.forEach(LettuceConnectionFactory::destroy);
    }

    private record Task(LockProvider locks) implements Contender {
        Optional<SimpleLock> take(String key, Duration atMost, Duration atLeast) {
            return locks.lock(new LockConfiguration(Instant.now(), key, atMost, atLeast));
        }

        @Override
        public Optional<Lease> tryLock(String key, Duration ttl) {
            return take(key, ttl, Duration.ZERO).map(lock -> new Held(lock, ttl));
        }

        @Override
        public void close() {}
    }

    private static final class Held implements Lease {
        private SimpleLock lock;
        private final Duration ttl;

        Held(SimpleLock lock, Duration ttl) {
            this.lock = lock;
            this.ttl = ttl;
        }

        @Override
        public boolean unlock() {
            lock.unlock();
            return true;
        }

        /** What was extended is another lock to ShedLock. */
        @Override
        public boolean extend() {
            Optional<SimpleLock> extended = lock.extend(ttl, Duration.ZERO);
            extended.ifPresent(l -> lock = l);
            return extended.isPresent();
        }
    }

    private static void keptForAWhile(Stage stage) throws Exception {
        Task one = (Task) stage.contender();
        Contender other = stage.contender();
        String key = stage.key("least");
        Duration least = Duration.ofSeconds(1);
        long begun = System.nanoTime();
        one.take(key, PLENTY, least).orElseThrow().unlock();
        held(other, key);
        Optional<Lease> got = Optional.empty();
        while (got.isEmpty() && System.nanoTime() - begun < least.multipliedBy(5).toNanos()) {
            Thread.sleep(20);
            got = other.tryLock(key, PLENTY);
        }
        Duration after = Duration.ofNanos(System.nanoTime() - begun);
        // ShedLock counts with a clock of milliseconds, and loses up to one of them.
        hold(after.compareTo(least.minusMillis(5)) >= 0, "it was free after " + after);
        had(got, "the lock").unlock();
        free(other, key);
    }
}
