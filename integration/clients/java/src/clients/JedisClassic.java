package clients;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisNoScriptException;
import redis.clients.jedis.params.SetParams;

/** One that looks asks whether a connection is there yet before it uses it (testOnBorrow). */
record JedisClassic(String host, int port, boolean looks) implements Library {
    @Override
    public String name() {
        return looks ? "jedis-testOnBorrow" : "jedis";
    }

    @Override
    public String version() {
        return Library.version(RedisClient.class, "redis.clients", "jedis");
    }

    @Override
    public List<Scenario> scenarios() {
        return Classic.SCENARIOS;
    }

    @Override
    public Contender contender() {
        ConnectionPoolConfig pool = new ConnectionPoolConfig();
        pool.setTestOnBorrow(looks);
        RedisClient jedis =
                RedisClient.builder().hostAndPort(host, port).poolConfig(pool).build();
        return new Classic() {
            @Override
            boolean set(String key, String token, long millis) {
                return "OK".equals(jedis.set(key, token, SetParams.setParams().nx().px(millis)));
            }

            @Override
            long run(String script, String key, String... args) {
                List<String> keys = List.of(key);
                try {
                    return (Long) jedis.evalsha(sha1(script), keys, List.of(args));
                } catch (JedisNoScriptException e) {
                    return (Long) jedis.eval(script, keys, List.of(args));
                }
            }

            @Override
            public void close() {
                jedis.close();
            }
        };
    }

    private static String sha1(String script) {
        try {
            byte[] sum = MessageDigest.getInstance("SHA-1").digest(script.getBytes(StandardCharsets.UTF_8));
            return String.format("%040x", new BigInteger(1, sum));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
