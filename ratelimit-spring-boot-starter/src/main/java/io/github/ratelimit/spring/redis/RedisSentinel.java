package io.github.ratelimit.spring.redis;

import org.jspecify.annotations.Nullable;

/**
 * What sentinels are asked for, and how to log in to them.
 *
 * @param master name of the server, which may be another from time to time
 */
record RedisSentinel(String master, @Nullable String username, @Nullable String password) {

}
