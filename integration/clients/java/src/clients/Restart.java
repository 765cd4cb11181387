package clients;

import clients.Contender.Lease;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Clients of proxies that are restarted.
 *
 * <p>usage: Restart HOST PORT HOST PORT
 *
 * <p>Drivers' clients, with nothing set but the address, take and release locks until the input ends. Each key is
 * wanted once, so each lock has to be had, and released. Jedis is there a second time, as it finds out by default that
 * a connection has ended when it asks for something.
 */
final class Restart {
    private static final int CLIENTS = 50;
    private static final long BETWEEN_PAIRS = 400;
    private static final Duration LONG = Duration.ofMinutes(5);

    private final List<Library> libraries;
    private final String name;
    private final Map<String, AtomicInteger> errors = new ConcurrentHashMap<>();
    private final AtomicInteger pairs = new AtomicInteger();
    private final CountDownLatch ready = new CountDownLatch(CLIENTS);
    private final List<Thread> threads = new ArrayList<>();

    /** One library, at each of the addresses. */
    private Restart(Library... libraries) {
        this.libraries = List.of(libraries);
        name = libraries[0].name() + " " + libraries[0].version();
    }

    public static void main(String[] args) throws Exception {
        if (args.length != 4) {
            System.err.println("usage: Restart HOST PORT HOST PORT");
            System.exit(2);
        }
        int port = Integer.parseInt(args[1]);
        int other = Integer.parseInt(args[3]);
        List<Restart> all = List.of(
                new Restart(new LettuceClassic(args[0], port), new LettuceClassic(args[2], other)),
                new Restart(new JedisClassic(args[0], port, false), new JedisClassic(args[2], other, false)),
                new Restart(new JedisClassic(args[0], port, true), new JedisClassic(args[2], other, true)));
        CountDownLatch stop = new CountDownLatch(1);
        for (Restart r : all) {
            r.begin(stop);
        }
        awaitEndOfInput();
        stop.countDown();
        for (Restart r : all) {
            r.end();
        }
        System.exit(0);
    }

    private static void awaitEndOfInput() throws IOException {
        while (System.in.read() >= 0) {}
    }

    private void begin(CountDownLatch stop) throws InterruptedException {
        for (int i = 0; i < CLIENTS; i++) {
            int number = i;
            Thread t = new Thread(() -> client(number, stop));
            threads.add(t);
            t.start();
        }
        ready.await();
        System.out.println("restart begins " + name);
    }

    /** Holds one lock all the time, and takes and releases another again and again. */
    private void client(int number, CountDownLatch stop) {
        String key = "restart:" + name + ":" + number;
        Lease held = null;
        try (Contender c = libraries.get(number % libraries.size()).contender()) {
            try {
                held = lock(c, key + ":long", LONG);
            } finally {
                ready.countDown();
            }
            for (int n = 0; !stop.await(BETWEEN_PAIRS, TimeUnit.MILLISECONDS); n++) {
                try {
                    unlock(lock(c, key + ":" + n, Stage.PLENTY));
                    pairs.incrementAndGet();
                } catch (Exception e) {
                    met("lock or unlock", e);
                }
            }
            unlock(held);
        } catch (Exception e) {
            met("the long lock", e);
        }
    }

    private static Lease lock(Contender c, String key, Duration ttl) throws Exception {
        Optional<Lease> got = c.tryLock(key, ttl);
        return got.orElseThrow(() -> new IllegalStateException("it is taken"));
    }

    private static void unlock(Lease held) throws Exception {
        if (!held.unlock()) {
            throw new IllegalStateException("it is not held any more");
        }
    }

    private void met(String what, Exception e) {
        String text = (what + ": " + e).replace('\n', ' ');
        errors.computeIfAbsent(text, t -> new AtomicInteger()).incrementAndGet();
    }

    private void end() throws InterruptedException {
        for (Thread t : threads) {
            t.join();
        }
        errors.forEach((what, times) -> System.out.println("error " + name + ": " + times + " times " + what));
        System.out.println("ok " + name + ": " + pairs + " locks by " + CLIENTS + " clients");
        libraries.forEach(Library::close);
    }
}
