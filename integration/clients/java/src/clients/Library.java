package clients;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Properties;

/** A lock library, used as its own documentation shows. It is told nothing but the address. */
interface Library extends AutoCloseable {
    /** Unlike every other's. */
    String name();

    String version();

    /** A contender that shares no lock with those that were there before. */
    Contender contender() throws Exception;

    /** Whether it says that a release was refused. */
    default boolean tells() {
        return true;
    }

    /** What it is asked to do, besides losing its scripts and guarding a counter. */
    List<Scenario> scenarios();

    /** Ends what the contenders share. */
    @Override
    default void close() {}

    /** The version that a library's archive says it has. */
    static String version(Class<?> any, String group, String artifact) {
        String path = "/META-INF/maven/" + group + "/" + artifact + "/pom.properties";
        try (InputStream in = any.getResourceAsStream(path)) {
            Properties said = new Properties();
            said.load(in);
            return said.getProperty("version");
        } catch (IOException e) {
            throw new IllegalStateException("read " + path, e);
        }
    }
}
