package clients;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import redis.clients.jedis.Jedis;

/**
 * Locks through a proxy with the libraries that Java programs use.
 *
 * <p>usage: Main HOST PORT
 */
final class Main {
    private Main() {}

    public static void main(String[] args) throws InterruptedException {
        if (args.length != 2) {
            System.err.println("usage: Main HOST PORT");
            System.exit(2);
        }
        String host = args[0];
        int port = Integer.parseInt(args[1]);
        List<Record> records = libraries(host, port).stream().map(Record::new).toList();
        boolean good = run(records, () -> flush(host, port));
        records.forEach(r -> r.library.close());
        System.exit(good ? 0 : 1);
    }

    private static List<Library> libraries(String host, int port) {
        return List.of(
                new Redisson(host, port, Redisson.Kind.PLAIN),
                new Redisson(host, port, Redisson.Kind.WAITING),
                new Redisson(host, port, Redisson.Kind.SPIN),
                new Redisson(host, port, Redisson.Kind.FAIR),
                new Redisson(host, port, Redisson.Kind.READ_WRITE),
                new RedissonObject(host, port, RedissonObject.Kind.SEMAPHORE),
                new RedissonObject(host, port, RedissonObject.Kind.PERMITS),
                new RedissonObject(host, port, RedissonObject.Kind.LATCH),
                new RedissonObject(host, port, RedissonObject.Kind.QUEUE),
                new JedisClassic(host, port, false),
                new LettuceClassic(host, port),
                new ShedLock(host, port, false),
                new ShedLock(host, port, true),
                new SpringIntegration(host, port, RedisLockType.PUB_SUB_LOCK),
                new SpringIntegration(host, port, RedisLockType.SPIN_LOCK));
    }

    private static void flush(String host, int port) {
        try (Jedis jedis = new Jedis(host, port)) {
            jedis.scriptFlush();
        }
    }

    private static boolean run(List<Record> records, Runnable flush) throws InterruptedException {
        each(records, r -> r.library.scenarios().forEach(r::play));
        // One by one: a library that loads its script again would spare the next one
        // what this is about.
        records.forEach(r -> r.play(Scenarios.noScript(flush)));
        // Side by side, and announced before the first begins: a master dies for all of them.
        records.forEach(r -> System.out.println("counter begins " + r.title()));
        each(records, Record::count);
        records.forEach(r -> System.out.println("counter ends " + r.title()));
        boolean good = true;
        for (Record r : records) {
            good &= r.end();
        }
        return good;
    }

    private static void each(List<Record> records, Consumer<Record> work) throws InterruptedException {
        List<Thread> threads = records.stream().map(r -> new Thread(() -> work.accept(r))).toList();
        threads.forEach(Thread::start);
        for (Thread t : threads) {
            t.join();
        }
    }

    /** What came out for one library. */
    private static final class Record {
        final Library library;
        private final List<String> passed = new ArrayList<>();
        private boolean failed;

        Record(Library library) {
            this.library = library;
        }

        String title() {
            return library.name() + " " + library.version();
        }

        void play(Scenario scenario) {
            try (Stage stage = new Stage(library)) {
                scenario.body().run(stage);
                passed.add(scenario.name());
            } catch (Throwable e) {
                fail(scenario.name(), e);
            }
        }

        void count() {
            try (Stage stage = new Stage(library)) {
                passed.add(new Counter(stage).run());
            } catch (Throwable e) {
                fail("guarded counter", e);
            }
        }

        private void fail(String what, Throwable why) {
            failed = true;
            String said = why.toString().replace('\n', ' ');
            System.out.println("FAIL " + title() + ": " + what + ": " + said);
        }

        /** Says how it went, and whether it went well. */
        boolean end() {
            if (!failed) {
                System.out.println("ok " + title() + ": " + String.join(", ", passed));
            }
            return !failed;
        }
    }
}
