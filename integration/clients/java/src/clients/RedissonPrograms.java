package clients;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Two programs whose threads are the contenders. */
final class RedissonPrograms implements AutoCloseable {
    /** The watchdog extends a lock three times in this time. Its default, half a minute, would make a long test. */
    static final Duration WATCHDOG = Duration.ofSeconds(3);

    private final String host;
    private final int port;
    private final List<RedissonClient> programs = new ArrayList<>(); // guarded by this
    private int asked; // guarded by this

    RedissonPrograms(String host, int port) {
        this.host = host;
        this.port = port;
    }

    /** A program connects at once: not before it is asked for, so that its failure is told as its own. */
    synchronized RedissonClient next() {
        if (programs.size() < 2) {
            Config config = new Config();
            config.setLockWatchdogTimeout(WATCHDOG.toMillis());
            config.useSingleServer().setAddress("redis://" + host + ":" + port);
            programs.add(org.redisson.Redisson.create(config));
        }
        return programs.get(asked++ % programs.size());
    }

    @Override
    public synchronized void close() {
        programs.forEach(RedissonClient::shutdown);
    }
}
