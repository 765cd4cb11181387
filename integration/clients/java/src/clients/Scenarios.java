package clients;

import static clients.Stage.PLENTY;
import static clients.Stage.SHORT;
import static clients.Stage.free;
import static clients.Stage.had;
import static clients.Stage.held;
import static clients.Stage.hold;

import clients.Contender.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** What every lock is asked to do. */
final class Scenarios {
    static final Scenario LOCK = new Scenario("lock and unlock", Scenarios::lockAndUnlock);
    static final Scenario TWO = new Scenario("two contenders, one wins", Scenarios::oneWins);
    static final Scenario STRANGER = new Scenario("release by a stranger is refused", Scenarios::strangerIsRefused);
    static final Scenario EXTEND = new Scenario("extend", Scenarios::extend);
    static final Scenario EXPIRY = new Scenario("expiry frees it", Scenarios::expiryFrees);
    static final Scenario WOKEN = new Scenario("waiting woken by the message", Scenarios::wokenByTheMessage);
    static final Scenario VAIN = new Scenario("waiting in vain", Scenarios::waitsInVain);

    private Scenarios() {}

    private static void lockAndUnlock(Stage stage) throws Exception {
        Contender one = stage.contender();
        Contender other = stage.contender();
        String key = stage.key("plain");
        Lease got = had(one.lock(key, PLENTY), "the lock");
        held(other, key);
        hold(got.unlock(), "it could not be released");
        if (stage.library.tells()) {
            hold(!got.unlock(), "it could be released twice");
        }
        free(other, key);
    }

    private static void oneWins(Stage stage) throws Exception {
        List<Contender> both = List.of(stage.contender(), stage.contender());
        String key = stage.key("two");
        List<CompletableFuture<Optional<Lease>>> asked = new ArrayList<>();
        for (Contender c : both) {
            asked.add(CompletableFuture.supplyAsync(() -> {
                try {
                    return c.tryLock(key, PLENTY);
                } catch (Exception e) {
                    throw new CompletionException(e);
                }
            }));
        }
        List<Optional<Lease>> got = asked.stream().map(CompletableFuture::join).toList();
        hold(got.get(0).isPresent() != got.get(1).isPresent(), got.get(0).isPresent() ? "both had it" : "neither had it");
        int winner = got.get(0).isPresent() ? 0 : 1;
        held(both.get(1 - winner), key);
        hold(got.get(winner).get().unlock(), "it could not be released");
        free(both.get(1 - winner), key);
    }

    /** The holder was too slow: the lock is another's by the time that it releases and extends it. */
    private static void strangerIsRefused(Stage stage) throws Exception {
        String key = stage.key("stranger");
        Lease slow = had(stage.contender().lock(key, SHORT), "the lock");
        Lease owner = had(soon(stage.contender(), key), "the lock, when it had ended,");
        hold(!slow.unlock() || !stage.library.tells(), "a stranger's release was accepted");
        held(stage.contender(), key);
        if (stage.library.tells() && stage.library.scenarios().contains(EXTEND)) {
            hold(!slow.extend(), "a stranger's extend was accepted");
        }
        hold(owner.unlock(), "the owner could not release it");
    }

    private static void extend(Stage stage) throws Exception {
        Contender other = stage.contender();
        String key = stage.key("extend");
        Duration ttl = Duration.ofSeconds(2);
        Lease got = had(stage.contender().lock(key, ttl), "the lock");
        for (int i = 0; i < 2; i++) {
            Thread.sleep(ttl.toMillis() * 6 / 10);
            hold(got.extend(), "it could not be extended");
        }
        held(other, key);
        hold(got.unlock(), "it could not be released");
        if (stage.library.tells()) {
            hold(!got.extend(), "what was released could be extended");
        }
        free(other, key);
    }

    private static void expiryFrees(Stage stage) throws Exception {
        String key = stage.key("expiry");
        long begun = System.nanoTime();
        had(stage.contender().lock(key, SHORT), "the lock");
        Lease got = had(soon(stage.contender(), key), "the lock, when it had ended,");
        Duration after = Duration.ofNanos(System.nanoTime() - begun);
        hold(after.compareTo(SHORT) >= 0, "it was free after " + after);
        hold(got.unlock(), "it could not be released");
    }

    /** Waits for what ends by itself. */
    private static Optional<Lease> soon(Contender c, String key) throws Exception {
        long last = System.nanoTime() + SHORT.multipliedBy(5).toNanos();
        Optional<Lease> got = c.tryLock(key, PLENTY);
        while (got.isEmpty() && System.nanoTime() < last) {
            Thread.sleep(20);
            got = c.tryLock(key, PLENTY);
        }
        return got;
    }

    private static void wokenByTheMessage(Stage stage) throws Exception {
        Contender other = stage.contender();
        String key = stage.key("message");
        Lease got = had(stage.contender().tryLock(key, PLENTY), "the lock");
        ExecutorService later = Executors.newSingleThreadExecutor();
        try {
            long begun = System.nanoTime();
            var released = later.submit(() -> {
                Thread.sleep(500);
                return got.unlock();
            });
            Lease next = had(other.await(key, PLENTY.dividedBy(2), PLENTY), "the lock, when it was released,");
            Duration after = Duration.ofNanos(System.nanoTime() - begun);
            hold(released.get(), "it could not be released");
            System.out.println("woken " + key + ": after " + after.minusMillis(500).toNanos() / 1_000_000.0 + " ms");
            hold(after.compareTo(Duration.ofMillis(500)) >= 0, "it was had after " + after);
            hold(after.compareTo(Duration.ofSeconds(3)) < 0, "the message came after " + after);
            hold(next.unlock(), "it could not be released by the next");
        } finally {
            later.shutdown();
        }
    }

    private static void waitsInVain(Stage stage) throws Exception {
        Contender other = stage.contender();
        String key = stage.key("vain");
        Lease got = had(stage.contender().tryLock(key, PLENTY), "the lock");
        hold(other.await(key, Duration.ofMillis(500), PLENTY).isEmpty(), "it could be taken while it was held");
        hold(got.unlock(), "it could not be released");
        free(other, key);
    }

    /** The scripts are lost before everything that a library does with one. */
    static Scenario noScript(Runnable flush) {
        return new Scenario("NOSCRIPT", stage -> {
            Contender other = stage.contender();
            String key = stage.key("noscript");
            flush.run();
            Lease got = had(stage.contender().lock(key, PLENTY), "the lock");
            if (stage.library.scenarios().contains(EXTEND)) {
                flush.run();
                hold(got.extend(), "it could not be extended");
            }
            held(other, key);
            flush.run();
            hold(got.unlock(), "it could not be released");
            free(other, key);
        });
    }
}
