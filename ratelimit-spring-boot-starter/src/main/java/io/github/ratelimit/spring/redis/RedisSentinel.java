package io.github.ratelimit.spring.redis;

import org.jspecify.annotations.Nullable;

/**
 * The master that sentinels are asked for, and the login for the sentinels.
 *
 * @param master name of the master
 */
record RedisSentinel(String master, @Nullable String username, @Nullable String password) {

}
