package clients;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.List;

/** One client, as Lettuce wants it, with a connection for each contender. */
final class LettuceClassic implements Library {
    private final RedisClient client;

    LettuceClassic(String host, int port) {
        client = RedisClient.create(RedisURI.create(host, port));
    }

    @Override
    public String name() {
        return "lettuce";
    }

    @Override
    public String version() {
        return Library.version(RedisClient.class, "io.lettuce", "lettuce-core");
    }

    @Override
    public List<Scenario> scenarios() {
        return Classic.SCENARIOS;
    }

    @Override
    public Contender contender() {
        StatefulRedisConnection<String, String> connection = client.connect();
        RedisCommands<String, String> redis = connection.sync();
        return new Classic() {
            @Override
            boolean set(String key, String token, long millis) {
                return "OK".equals(redis.set(key, token, SetArgs.Builder.nx().px(millis)));
            }

            @Override
            long run(String script, String key, String... args) {
                String[] keys = {key};
                try {
                    return redis.<Long>evalsha(redis.digest(script), ScriptOutputType.INTEGER, keys, args);
                } catch (RedisNoScriptException e) {
                    return redis.<Long>eval(script, ScriptOutputType.INTEGER, keys, args);
                }
            }

            @Override
            public void close() {
                connection.close();
            }
        };
    }

    @Override
    public void close() {
        client.shutdown();
    }
}
