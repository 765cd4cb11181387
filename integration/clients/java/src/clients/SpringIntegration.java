package clients;

import clients.Contender.Lease;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import org.springframework.integration.support.locks.DistributedLock;

/** Spring Integration's locks belong to a thread of a registry, so that each contender is one. */
final class SpringIntegration implements Library {
    private final RedisLockType type;
    private final List<LettuceConnectionFactory> programs;
    /** Each hears all messages until it is destroyed, which is not before the last one has come. */
    private final Queue<RedisLockRegistry> registries = new ConcurrentLinkedQueue<>();

    private final AtomicInteger contenders = new AtomicInteger();

    SpringIntegration(String host, int port, RedisLockType type) {
        this.type = type;
        programs = List.of(new LettuceConnectionFactory(host, port), new LettuceConnectionFactory(host, port));
        programs.forEach(p -> {
            p.afterPropertiesSet();
            p.start();
        });
    }

    @Override
    public String name() {
        return type == RedisLockType.SPIN_LOCK ? "spring-integration/spin" : "spring-integration/pub-sub";
    }

    @Override
    public String version() {
        return RedisLockRegistry.class.getPackage().getImplementationVersion();
    }

    @Override
    public List<Scenario> scenarios() {
        return type == RedisLockType.SPIN_LOCK
                ? List.of(Scenarios.LOCK, Scenarios.TWO, Scenarios.STRANGER, Scenarios.EXTEND, Scenarios.EXPIRY,
                        Scenarios.VAIN)
                : List.of(Scenarios.LOCK, Scenarios.TWO, Scenarios.STRANGER, Scenarios.EXTEND, Scenarios.EXPIRY,
                        Scenarios.WOKEN, Scenarios.VAIN);
    }

    @Override
    public Contender contender() {
        LettuceConnectionFactory program = programs.get(contenders.getAndIncrement() % programs.size());
        RedisLockRegistry registry = new RedisLockRegistry(program, "matrix");
        registry.setRedisLockType(type);
        registries.add(registry);
        return new Holder(registry, Executors.newSingleThreadExecutor());
    }

    @Override
    public void close() {
        registries.forEach(RedisLockRegistry::destroy);
        programs.forEach(LettuceConnectionFactory::destroy);
    }

    /** A thread that locks. */
    private record Holder(RedisLockRegistry registry, ExecutorService thread) implements Contender {
        @Override
        public Optional<Lease> tryLock(String key, Duration ttl) throws Exception {
            return await(key, Duration.ZERO, ttl);
        }

        @Override
        public Optional<Lease> lock(String key, Duration ttl) throws Exception {
            return await(key, Duration.ofSeconds(3), ttl);
        }

        @Override
        public Optional<Lease> await(String key, Duration patience, Duration ttl) throws Exception {
            DistributedLock lock = registry.obtain(key);
            if (!does(() -> lock.tryLock(patience, ttl))) {
                return Optional.empty();
            }
            return Optional.of(new Lease() {
                @Override
                public boolean unlock() throws Exception {
                    return holds(lock::unlock);
                }

                @Override
                public boolean extend() throws Exception {
                    return holds(() -> registry.renewLock(key, ttl));
                }
            });
        }

        private <T> T does(Callable<T> what) throws Exception {
            try {
                return thread.submit(what).get();
            } catch (ExecutionException e) {
                throw e.getCause() instanceof Exception cause ? cause : e;
            }
        }

        /** False if the thread does not hold the lock, or held it until it had ended. */
        private boolean holds(Runnable what) throws Exception {
            try {
                does(Executors.callable(what));
                return true;
            } catch (IllegalStateException | ConcurrentModificationException e) {
                return false;
            }
        }

        @Override
        public void close() {
            thread.shutdown();
        }
    }
}
