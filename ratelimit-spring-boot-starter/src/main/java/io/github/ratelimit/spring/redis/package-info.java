/**
 * Internal: creates connections to Redis from the configuration.
 */
@NullMarked
package io.github.ratelimit.spring.redis;

import org.jspecify.annotations.NullMarked;
