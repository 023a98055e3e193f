/**
 * The stores in Redis. By script: each request is one call of a script that is put
 * together from the resource {@code driver.lua} of this package and the parts of the
 * algorithms that the request uses. By plain commands, for some algorithms: each policy
 * and identifier of a request is a tally, and what the counts amount to is decided by the
 * algorithms in Java.
 */
@NullMarked
package io.github.ratelimit.redis;

import org.jspecify.annotations.NullMarked;
