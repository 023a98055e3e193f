/**
 * Internal: settings to a connection.
 */
@NullMarked
package io.github.ratelimit.spring.redis;

import org.jspecify.annotations.NullMarked;
