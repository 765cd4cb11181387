package clients;

import static clients.Stage.PLENTY;
import static clients.Stage.had;
import static clients.Stage.hold;

import clients.Contender.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/** What Redisson has beside locks. One permit, one count and one element are locks as well, which guard the counter. */
final class RedissonObject implements Library {
    enum Kind {
        /** Whoever has its permit holds the lock, without end. */
        SEMAPHORE("redisson/RSemaphore"),
        /** Whoever has its permit holds the lock, until it ends. */
        PERMITS("redisson/RPermitExpirableSemaphore"),
        /** Whoever could set its count holds the lock. */
        LATCH("redisson/RCountDownLatch"),
        /** Whoever has taken its element holds the lock. */
        QUEUE("redisson/RBlockingQueue");

        private final String title;

        Kind(String title) {
            this.title = title;
        }
    }

    private static final String ELEMENT = "the lock";

    private final RedissonPrograms programs;
    private final Kind kind;
    /** The keys of what was given its permit or element. */
    private final Map<String, Boolean> made = new ConcurrentHashMap<>();

    RedissonObject(String host, int port, Kind kind) {
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

    @Override
    public boolean tells() {
        return kind == Kind.PERMITS;
    }

    @Override
    public List<Scenario> scenarios() {
        List<Scenario> all = new ArrayList<>(
                List.of(Scenarios.LOCK, Scenarios.TWO, Scenarios.WOKEN, Scenarios.VAIN));
        switch (kind) {
            case SEMAPHORE -> all.add(new Scenario("three permits", RedissonObject::sharesThree));
            case PERMITS -> all.addAll(List.of(Scenarios.STRANGER, Scenarios.EXTEND, Scenarios.EXPIRY,
                    new Scenario("three permits", RedissonObject::sharesThreeThatEnd)));
            case LATCH -> all.add(new Scenario("three counts let two go", RedissonObject::letsTwoGo));
            case QUEUE -> all.add(new Scenario("an element goes to one", RedissonObject::givesToOne));
        }
        return all;
    }

    @Override
    public One contender() {
        return new One(programs.next());
    }

    @Override
    public void close() {
        programs.close();
    }

    private final class One implements Contender {
        private final RedissonClient redisson;

        One(RedissonClient redisson) {
            this.redisson = redisson;
        }

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
            made.computeIfAbsent(key, this::make);
            return switch (kind) {
                case SEMAPHORE -> permit(key, patience);
                case PERMITS -> permitThatEnds(key, patience, ttl);
                case LATCH -> count(key, patience);
                case QUEUE -> element(key, patience);
            };
        }

        private boolean make(String key) {
            return switch (kind) {
                case SEMAPHORE -> redisson.getSemaphore(key).trySetPermits(1);
                case PERMITS -> redisson.getPermitExpirableSemaphore(key).trySetPermits(1);
                case LATCH -> true;
                case QUEUE -> redisson.getBlockingQueue(key).offer(ELEMENT);
            };
        }

        Optional<Lease> permit(String key, Duration patience) throws Exception {
            RSemaphore semaphore = redisson.getSemaphore(key);
            if (!semaphore.tryAcquire(patience)) {
                return Optional.empty();
            }
            return lease(() -> {
                semaphore.release();
                return true;
            }, null);
        }

        Optional<Lease> permitThatEnds(String key, Duration patience, Duration ttl) throws Exception {
            RPermitExpirableSemaphore semaphore = redisson.getPermitExpirableSemaphore(key);
            String id = semaphore.tryAcquire(patience.toMillis(), ttl.toMillis(), TimeUnit.MILLISECONDS);
            if (id == null) {
                return Optional.empty();
            }
            return lease(() -> semaphore.tryRelease(id),
                    () -> semaphore.updateLeaseTime(id, ttl.toMillis(), TimeUnit.MILLISECONDS));
        }

        private Optional<Lease> count(String key, Duration patience) throws Exception {
            RCountDownLatch latch = redisson.getCountDownLatch(key);
            long end = System.nanoTime() + patience.toNanos();
            while (!latch.trySetCount(1)) {
                long left = end - System.nanoTime();
                if (left <= 0 || !latch.await(left, TimeUnit.NANOSECONDS)) {
                    return Optional.empty();
                }
            }
            return lease(() -> {
                latch.countDown();
                return true;
            }, null);
        }

        private Optional<Lease> element(String key, Duration patience) throws Exception {
            RBlockingQueue<String> queue = redisson.getBlockingQueue(key);
            String had = patience.isZero() ? queue.poll() : queue.poll(patience.toMillis(), TimeUnit.MILLISECONDS);
            return had == null ? Optional.empty() : lease(() -> queue.offer(had), null);
        }

        @Override
        public void close() {}
    }

    private static Optional<Lease> lease(Callable<Boolean> unlock, Callable<Boolean> extend) {
        return Optional.of(new Lease() {
            @Override
            public boolean unlock() throws Exception {
                return unlock.call();
            }

            @Override
            public boolean extend() throws Exception {
                return extend.call();
            }
        });
    }

    /** How one of several gets what several may have. */
    private interface Share {
        Optional<Lease> take(One contender, String key) throws Exception;
    }

    private static void sharesThree(Stage stage) throws Exception {
        String key = stage.key("three");
        RSemaphore semaphore = one(stage).redisson.getSemaphore(key);
        hold(semaphore.trySetPermits(3) && !semaphore.trySetPermits(2), "its permits could not be set, or twice");
        shares(stage, key, (c, k) -> c.permit(k, Duration.ZERO));
        hold(semaphore.availablePermits() == 3, "there are " + semaphore.availablePermits() + " permits at the end");
        hold(semaphore.delete(), "it could not be deleted");
    }

    private static void sharesThreeThatEnd(Stage stage) throws Exception {
        String key = stage.key("three");
        RPermitExpirableSemaphore semaphore = one(stage).redisson.getPermitExpirableSemaphore(key);
        hold(semaphore.trySetPermits(3) && !semaphore.trySetPermits(2), "its permits could not be set, or twice");
        shares(stage, key, (c, k) -> c.permitThatEnds(k, Duration.ZERO, PLENTY));
        hold(semaphore.availablePermits() == 3, "there are " + semaphore.availablePermits() + " permits at the end");
        hold(semaphore.delete(), "it could not be deleted");
    }

    /** Five ask at once, and three have it. */
    private static void shares(Stage stage, String key, Share share) throws Exception {
        List<One> five = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            five.add(one(stage));
        }
        List<Lease> had = together(five, c -> share.take(c, key)).stream().flatMap(Optional::stream).toList();
        hold(had.size() == 3, had.size() + " of five had one of three");
        hold(share.take(five.get(0), key).isEmpty(), "a fourth had one of three");
        hold(had.get(0).unlock(), "it could not be released");
        Lease next = had(share.take(five.get(1), key), "what was released");
        hold(share.take(five.get(2), key).isEmpty(), "a fourth had one of three after a release");
        hold(had.get(1).unlock() && had.get(2).unlock() && next.unlock(), "they could not be released");
    }

    private static void letsTwoGo(Stage stage) throws Exception {
        List<One> both = List.of(one(stage), one(stage));
        String key = stage.key("three");
        RCountDownLatch latch = one(stage).redisson.getCountDownLatch(key);
        hold(latch.trySetCount(3) && !latch.trySetCount(2), "its count could not be set, or twice");
        hold(!latch.await(200, TimeUnit.MILLISECONDS), "it was open at three");
        var waiting = CompletableFuture.supplyAsync(
                () -> together(both, c -> c.redisson.getCountDownLatch(key).await(10, TimeUnit.SECONDS)));
        for (long left = 2; left >= 0; left--) {
            Thread.sleep(200);
            hold(!waiting.isDone(), "they went at " + (left + 1));
            both.get(0).redisson.getCountDownLatch(key).countDown();
            hold(latch.getCount() == left, "it is at " + latch.getCount() + " and not at " + left);
        }
        long opened = System.nanoTime();
        hold(waiting.get().equals(List.of(true, true)), "one of them has not heard that it opened");
        Duration after = Duration.ofNanos(System.nanoTime() - opened);
        hold(after.compareTo(Duration.ofSeconds(3)) < 0, "the message came after " + after);
    }

    private static void givesToOne(Stage stage) throws Exception {
        List<Integer> all = IntStream.range(0, 40).boxed().toList();
        List<One> both = List.of(one(stage), one(stage));
        String key = stage.key("forty");
        var taking = CompletableFuture.supplyAsync(() -> together(both, c -> {
            RBlockingQueue<Integer> queue = c.redisson.getBlockingQueue(key);
            List<Integer> had = new ArrayList<>();
            for (Integer e = queue.take(); e >= 0; e = queue.take()) {
                had.add(e);
            }
            return had;
        }));
        RBlockingQueue<Integer> queue = one(stage).redisson.getBlockingQueue(key);
        for (Integer e : all) {
            hold(queue.offer(e), "it could not be put there");
        }
        hold(queue.offer(-1) && queue.offer(-1), "the end could not be put there");
        List<Integer> had = taking.get(PLENTY.toMillis(), TimeUnit.MILLISECONDS).stream().flatMap(List::stream).sorted().toList();
        hold(had.equals(all), "two had " + had);
        hold(queue.isEmpty(), "there are " + queue.size() + " left");
    }

    private static One one(Stage stage) throws Exception {
        return (One) stage.contender();
    }

    private interface Work<T> {
        T of(One contender) throws Exception;
    }

    /** What each comes to, all of them at once. */
    private static <T> List<T> together(List<One> contenders, Work<T> work) {
        List<CompletableFuture<T>> begun = new ArrayList<>();
        for (One c : contenders) {
            CompletableFuture<T> f = new CompletableFuture<>();
            begun.add(f);
            new Thread(() -> {
                try {
                    f.complete(work.of(c));
                } catch (Exception e) {
                    f.completeExceptionally(new CompletionException(e));
                }
            }).start();
        }
        return begun.stream().map(CompletableFuture::join).toList();
    }
}
