package clients;

import clients.Contender.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** What a crowd increments under one lock. Without it, updates get lost. */
final class Counter {
    private static final int CROWD = 20;
    private static final Duration DURING = Duration.ofSeconds(5);
    /** Increments; if there are fewer by then it goes on. */
    private static final long LEAST = 30;

    private volatile long value;
    private final AtomicInteger holders = new AtomicInteger();
    private final AtomicLong held = new AtomicLong();
    private final AtomicLong overlaps = new AtomicLong();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final Stage stage;

    Counter(Stage stage) {
        this.stage = stage;
    }

    /** Gives how often they did. */
    String run() throws Exception {
        List<Thread> crowd = new ArrayList<>();
        CountDownLatch go = new CountDownLatch(1);
        for (int i = 0; i < CROWD; i++) {
            Contender c = stage.contender();
            Thread t = new Thread(() -> contend(c, go));
            t.start();
            crowd.add(t);
        }
        go.countDown();
        for (Thread t : crowd) {
            t.join();
        }
        if (failure.get() != null) {
            throw new IllegalStateException(failure.get());
        }
        Stage.hold(value == held.get() && overlaps.get() == 0, "held " + held + " times, counted " + value + ", "
                + overlaps + " times by two: updates were lost");
        return value + " guarded increments by " + CROWD + " contenders";
    }

    private void contend(Contender c, CountDownLatch go) {
        try {
            go.await();
            long end = System.nanoTime() + DURING.toNanos();
            while ((System.nanoTime() < end || held.get() < LEAST) && failure.get() == null) {
                Optional<Lease> got = c.lock(stage.key("counter"), Stage.PLENTY);
                if (got.isPresent()) {
                    add();
                    Stage.hold(got.get().unlock(), "it could not be released");
                }
            }
        } catch (Throwable e) {
            failure.compareAndSet(null, e);
        }
    }

    private void add() throws InterruptedException {
        if (holders.incrementAndGet() != 1) {
            overlaps.incrementAndGet();
        }
        long was = value;
        Thread.sleep(1);
        value = was + 1;
        holders.decrementAndGet();
        held.incrementAndGet();
    }
}
