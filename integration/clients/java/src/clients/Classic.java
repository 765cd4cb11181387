package clients;

import clients.Contender.Lease;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** The pattern of Redis's own documentation, for drivers that are no lock libraries. */
abstract class Classic implements Contender {
    private static final String COMPARE_AND_DELETE = """
            if redis.call("get",KEYS[1]) == ARGV[1] then
                return redis.call("del",KEYS[1])
            else
                return 0
            end""";
    private static final String COMPARE_AND_EXPIRE = """
            if redis.call("get",KEYS[1]) == ARGV[1] then
                return redis.call("pexpire",KEYS[1],ARGV[2])
            else
                return 0
            end""";

    static final List<Scenario> SCENARIOS =
            List.of(Scenarios.LOCK, Scenarios.TWO, Scenarios.STRANGER, Scenarios.EXTEND, Scenarios.EXPIRY);

    /** SET key token NX PX, and whether the answer is OK. */
    abstract boolean set(String key, String token, long millis);

    /** EVALSHA, and EVAL where the script is not there. */
    abstract long run(String script, String key, String... args);

    @Override
    public Optional<Lease> tryLock(String key, Duration ttl) {
        String token = UUID.randomUUID().toString();
        if (!set(key, token, ttl.toMillis())) {
            return Optional.empty();
        }
        return Optional.of(new Lease() {
            @Override
            public boolean unlock() {
                return run(COMPARE_AND_DELETE, key, token) == 1;
            }

            @Override
            public boolean extend() {
                return run(COMPARE_AND_EXPIRE, key, token, Long.toString(ttl.toMillis())) == 1;
            }
        });
    }
}
