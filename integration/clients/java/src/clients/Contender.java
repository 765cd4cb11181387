package clients;

import java.time.Duration;
import java.util.Optional;

/** One that wants locks. */
interface Contender extends AutoCloseable {
    /** Asks for the lock once. Empty means that another has it. */
    Optional<Lease> tryLock(String key, Duration ttl) throws Exception;

    /** Asks for as long as the library does by itself: what only tries is followed by a pause. */
    default Optional<Lease> lock(String key, Duration ttl) throws Exception {
        Optional<Lease> got = tryLock(key, ttl);
        if (got.isEmpty()) {
            Thread.sleep(50);
        }
        return got;
    }

    /** Waits for so long, by what the library has for that. */
    default Optional<Lease> await(String key, Duration patience, Duration ttl) throws Exception {
        throw new UnsupportedOperationException("it does not wait");
    }

    @Override
    void close();

    /** A lock that was had. */
    interface Lease {
        /** False means that it was not this holder's any more. */
        boolean unlock() throws Exception;

        /** Makes it last for the ttl that it was taken with, from now on. False as above. */
        boolean extend() throws Exception;
    }
}
