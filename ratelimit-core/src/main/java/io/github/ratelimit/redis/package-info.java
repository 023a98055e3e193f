/**
 * The store in Redis, by script. Each request is one call of a script that is put
 * together from the resource {@code driver.lua} of this package and the parts of the
 * algorithms that the request uses.
 */
@NullMarked
package io.github.ratelimit.redis;

import org.jspecify.annotations.NullMarked;
