package clients;

import clients.Contender.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What one scenario has: contenders, who leave with it, and keys that nobody else uses. */
final class Stage implements AutoCloseable {
    /** A ttl that does not end meanwhile, and one that does. */
    static final Duration PLENTY = Duration.ofSeconds(20);

    static final Duration SHORT = Duration.ofSeconds(1);

    final Library library;
    private final List<Contender> contenders = new ArrayList<>();

    Stage(Library library) {
        this.library = library;
    }

    Contender contender() throws Exception {
        Contender c = library.contender();
        contenders.add(c);
        return c;
    }

    String key(String of) {
        return library.name() + ":" + of;
    }

    static void hold(boolean what, String why) {
        if (!what) {
            throw new AssertionError(why);
        }
    }

    static Lease had(Optional<Lease> got, String what) {
        return got.orElseThrow(() -> new AssertionError(what + " was not to be had"));
    }

    /** Holds if another has the lock. */
    static void held(Contender c, String key) throws Exception {
        Optional<Lease> got = c.tryLock(key, PLENTY);
        if (got.isPresent()) {
            got.get().unlock();
            throw new AssertionError("it could be taken while it was held");
        }
    }

    /** Holds if the lock can be taken and given back. */
    static void free(Contender c, String key) throws Exception {
        hold(had(c.tryLock(key, PLENTY), "what is free").unlock(), "what was taken again could not be released");
    }

    @Override
    public void close() {
        contenders.forEach(Contender::close);
    }
}
