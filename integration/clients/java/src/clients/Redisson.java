package clients;

import static clients.Stage.PLENTY;
import static clients.Stage.free;
import static clients.Stage.had;
import static clients.Stage.held;
import static clients.Stage.hold;

import clients.Contender.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Redisson's locks belong to a thread of a client, so that each contender is one. */
final class Redisson implements Library {
    /** How its locks are waited for. */
    enum Kind {
        /** Not at all. */
        PLAIN("redisson/RLock"),
        /** Until a message says that it was released. */
        WAITING("redisson/RLock-waiting"),
        /** By asking again and again. */
        SPIN("redisson/SpinLock"),
        /** In a line, until a message says that it was released to who is first there. */
        FAIR("redisson/FairLock"),
        /** As a writer, until a message says that it was released; and before that once as a reader. */
        READ_WRITE("redisson/RReadWriteLock");

        private final String title;

        Kind(String title) {
            this.title = title;
        }
    }

    private final Kind kind;
    private final RedissonPrograms programs;

    Redisson(String host, int port, Kind kind) {
        this.programs = new RedissonPrograms(host, port);
        this.kind = kind;
    }

    @Override
    public String name() {
        return kind.title;
    }

    @Override
    public String version() {
        return Library.version(RedissonClient.class, "org.redisson", "redisson");
    }

    /** A fair lock that nobody holds may be released by anybody. */
    @Override
    public boolean tells() {
        return kind != Kind.FAIR;
    }

    @Override
    public List<Scenario> scenarios() {
        if (kind == Kind.WAITING) {
            return List.of(Scenarios.WOKEN, Scenarios.VAIN);
        }
        if (kind == Kind.READ_WRITE) {
            return List.of(Scenarios.LOCK, Scenarios.TWO, Scenarios.STRANGER, Scenarios.EXPIRY, Scenarios.WOKEN, Scenarios.VAIN,
                    new Scenario("a reader woken by the writer's message", Redisson::readerIsWoken),
                    new Scenario("readers share", Redisson::readersShare),
                    new Scenario("a reader's holds end one by one", Redisson::readsTwice),
                    new Scenario("a reader is extended by the watchdog", Redisson::watchdogExtendsReader),
                    new Scenario("a writer reads and goes on reading", Redisson::downgrades));
        }
        if (kind == Kind.FAIR) {
            return List.of(Scenarios.LOCK, Scenarios.TWO, Scenarios.STRANGER, Scenarios.EXPIRY, Scenarios.WOKEN, Scenarios.VAIN,
                    new Scenario("extended by the watchdog", Redisson::watchdogExtends),
                    new Scenario("who came first has it first", Redisson::firstComeFirstServed));
        }
        return List.of(Scenarios.LOCK, Scenarios.TWO, Scenarios.STRANGER, Scenarios.EXPIRY,
                new Scenario("extended by the watchdog", Redisson::watchdogExtends),
                new Scenario("taken twice by one thread", Redisson::reenters),
                new Scenario("tells its state", Redisson::tellsItsState),
                new Scenario("released by force", Redisson::releasedByForce));
    }

    @Override
    public Holder contender() {
        return new Holder(kind, programs.next());
    }

    @Override
    public void close() {
        programs.close();
    }

    /** A thread that locks. */
    private static final class Holder implements Contender {
        private final Kind kind;
        private final RedissonClient redisson;
        private final ExecutorService thread = Executors.newSingleThreadExecutor();

        Holder(Kind kind, RedissonClient redisson) {
            this.kind = kind;
            this.redisson = redisson;
        }

        RLock of(String key) {
            return switch (kind) {
                case FAIR -> redisson.getFairLock(key);
                case SPIN -> redisson.getSpinLock(key);
                case READ_WRITE -> redisson.getReadWriteLock(key).writeLock();
                default -> redisson.getLock(key);
            };
        }

        RLock toRead(String key) {
            return redisson.getReadWriteLock(key).readLock();
        }

        boolean take(RLock lock) throws Exception {
            return does(() -> lock.tryLock(0, PLENTY.toMillis(), TimeUnit.MILLISECONDS));
        }

        <T> T does(Callable<T> what) throws Exception {
            try {
                return thread.submit(what).get();
            } catch (ExecutionException e) {
                throw e.getCause() instanceof Exception cause ? cause : e;
            }
        }

        @Override
        public Optional<Lease> tryLock(String key, Duration ttl) throws Exception {
            return await(key, Duration.ZERO, ttl);
        }

        @Override
        public Optional<Lease> lock(String key, Duration ttl) throws Exception {
            if (kind == Kind.PLAIN) {
                return Contender.super.lock(key, ttl);
            }
            if (kind == Kind.READ_WRITE && take(toRead(key))) {
                hold(unlock(toRead(key)), "what was read could not be released");
            }
            return await(key, Duration.ofSeconds(3), ttl);
        }

        @Override
        public Optional<Lease> await(String key, Duration patience, Duration ttl) throws Exception {
            RLock lock = of(key);
            if (!does(() -> lock.tryLock(patience.toMillis(), ttl.toMillis(), TimeUnit.MILLISECONDS))) {
                return Optional.empty();
            }
            return Optional.of(new Lease() {
                @Override
                public boolean unlock() throws Exception {
                    return Holder.this.unlock(lock);
                }

                @Override
                public boolean extend() {
                    throw new UnsupportedOperationException("the watchdog extends");
                }
            });
        }

        boolean unlock(RLock lock) throws Exception {
            try {
                does(() -> {
                    lock.unlock();
                    return null;
                });
                return true;
            } catch (IllegalMonitorStateException e) {
                return false;
            }
        }

        @Override
        public void close() {
            thread.shutdown();
        }
    }

    private static Holder holder(Stage stage) throws Exception {
        return (Holder) stage.contender();
    }

    private static void readerIsWoken(Stage stage) throws Exception {
        Holder writer = holder(stage);
        Holder reader = holder(stage);
        String key = stage.key("reader");
        Lease got = had(writer.tryLock(key, PLENTY), "the lock");
        Future<Boolean> read = reader.thread.submit(() -> reader.toRead(key).tryLock(PLENTY.toMillis() / 2, PLENTY.toMillis(), TimeUnit.MILLISECONDS));
        Thread.sleep(500);
        long released = System.nanoTime();
        hold(got.unlock(), "it could not be released");
        hold(read.get(), "nobody could read what was released");
        Duration after = Duration.ofNanos(System.nanoTime() - released);
        System.out.println("woken " + key + ": after " + after.toNanos() / 1_000_000.0 + " ms");
        hold(after.compareTo(Duration.ofSeconds(3)) < 0, "the message came after " + after);
        hold(reader.unlock(reader.toRead(key)), "what was read could not be released");
    }

    private static void watchdogExtends(Stage stage) throws Exception {
        Holder one = holder(stage);
        Contender other = stage.contender();
        String key = stage.key("watchdog");
        RLock lock = one.of(key);
        hold(one.does(() -> lock.tryLock()), "it was not to be had");
        Thread.sleep(RedissonPrograms.WATCHDOG.multipliedBy(3).dividedBy(2).toMillis());
        held(other, key);
        hold(one.unlock(lock), "it was the holder's no more");
        free(other, key);
    }

    private static void reenters(Stage stage) throws Exception {
        Holder one = holder(stage);
        Contender other = stage.contender();
        String key = stage.key("twice");
        RLock lock = one.of(key);
        for (int i = 0; i < 2; i++) {
            hold(one.does(() -> lock.tryLock(0, PLENTY.toMillis(), TimeUnit.MILLISECONDS)), "it was not to be had");
        }
        hold(one.unlock(lock), "it could not be released");
        held(other, key);
        hold(one.unlock(lock), "it could not be released once more");
        hold(!one.unlock(lock), "it could be released more often than taken");
        free(other, key);
    }

    private static void firstComeFirstServed(Stage stage) throws Exception {
        String key = stage.key("line");
        Lease got = had(holder(stage).tryLock(key, PLENTY), "the lock");
        List<Integer> order = Collections.synchronizedList(new ArrayList<>());
        List<CompletableFuture<Void>> line = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int number = i;
            Holder next = holder(stage);
            line.add(CompletableFuture.runAsync(() -> {
                try {
                    Lease its = had(next.await(key, PLENTY, PLENTY), "the lock");
                    order.add(number);
                    hold(its.unlock(), "it could not be released");
                } catch (Exception e) {
                    throw new CompletionException(e);
                }
            }));
            Thread.sleep(300);
        }
        hold(order.isEmpty(), "others had it while it was held");
        hold(got.unlock(), "it could not be released");
        line.forEach(CompletableFuture::join);
        hold(order.equals(List.of(0, 1, 2, 3)), "they had it in the order " + order);
    }

    private static void tellsItsState(Stage stage) throws Exception {
        Holder one = holder(stage);
        Holder other = holder(stage);
        String key = stage.key("state");
        RLock lock = one.of(key);
        hold(!other.of(key).isLocked(), "it is locked before it is taken");
        hold(one.does(() -> lock.tryLock(0, PLENTY.toMillis(), TimeUnit.MILLISECONDS)), "it was not to be had");
        hold(other.of(key).isLocked(), "it is not locked");
        hold(one.does(lock::isHeldByCurrentThread), "it is not its holder's");
        hold(!other.does(() -> other.of(key).isHeldByCurrentThread()), "it is another's");
        hold(one.does(lock::getHoldCount) == 1, "it is not held once");
        long left = lock.remainTimeToLive();
        hold(left > PLENTY.toMillis() / 2 && left <= PLENTY.toMillis(), left + " ms are left");
        hold(one.unlock(lock), "it could not be released");
        hold(!lock.isLocked(), "it is locked after its release");
    }

    private static void releasedByForce(Stage stage) throws Exception {
        Holder one = holder(stage);
        Holder other = holder(stage);
        String key = stage.key("force");
        Lease got = had(one.tryLock(key, PLENTY), "the lock");
        hold(other.of(key).forceUnlock(), "it was not there");
        hold(!other.of(key).forceUnlock(), "it was there twice");
        hold(!got.unlock(), "it could be released after that");
        free(other, key);
    }

    private static void readersShare(Stage stage) throws Exception {
        Holder one = holder(stage);
        Holder other = holder(stage);
        Holder writer = holder(stage);
        String key = stage.key("readers");
        hold(one.take(one.toRead(key)), "it was not to be had by a reader");
        hold(other.take(other.toRead(key)), "it was not to be had by a second reader");
        held(writer, key);
        hold(one.unlock(one.toRead(key)), "it could not be released by a reader");
        hold(!one.unlock(one.toRead(key)), "it could be released twice");
        held(writer, key);
        hold(other.unlock(other.toRead(key)), "it could not be released by the last reader");
        Lease got = had(writer.tryLock(key, PLENTY), "what nobody reads");
        hold(!one.take(one.toRead(key)), "it could be read while it was written");
        hold(got.unlock(), "it could not be released by the writer");
        hold(one.take(one.toRead(key)), "it was not to be had by a reader after the writer");
        hold(one.unlock(one.toRead(key)), "it could not be released at the end");
    }

    private static void readsTwice(Stage stage) throws Exception {
        Holder one = holder(stage);
        Holder writer = holder(stage);
        String key = stage.key("reads");
        RLock lock = one.toRead(key);
        for (int i = 0; i < 2; i++) {
            hold(one.take(lock), "it was not to be had");
        }
        hold(one.unlock(lock), "it could not be released");
        held(writer, key);
        hold(one.unlock(lock), "it could not be released once more");
        hold(!one.unlock(lock), "it could be released more often than taken");
        free(writer, key);
    }

    private static void watchdogExtendsReader(Stage stage) throws Exception {
        Holder one = holder(stage);
        Holder writer = holder(stage);
        String key = stage.key("reader's watchdog");
        RLock lock = one.toRead(key);
        hold(one.does(() -> lock.tryLock()), "it was not to be had");
        Thread.sleep(RedissonPrograms.WATCHDOG.multipliedBy(3).dividedBy(2).toMillis());
        held(writer, key);
        hold(one.unlock(lock), "it was the reader's no more");
        free(writer, key);
    }

    private static void downgrades(Stage stage) throws Exception {
        Holder one = holder(stage);
        Holder other = holder(stage);
        String key = stage.key("downgrade");
        Lease got = had(one.tryLock(key, PLENTY), "the lock");
        hold(one.take(one.toRead(key)), "its writer could not read");
        hold(!other.take(other.toRead(key)), "another could read while it was written");
        hold(got.unlock(), "it could not be released by the writer");
        held(other, key);
        hold(other.take(other.toRead(key)), "another could not read with the one who had written");
        hold(other.unlock(other.toRead(key)), "it could not be released by the other");
        hold(one.unlock(one.toRead(key)), "it could not be released by the one who had written");
        free(other, key);
    }
}
