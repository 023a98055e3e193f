/**
 * What a call of a script is: its Redis keys, arguments and replies, and the blocks that
 * it reads. A {@code Shape} is everything that the script of a request depends on; the
 * script takes any number of requests of its shape, decides them one after the other, and
 * an error in one does not affect the others. Internal: not for users of the library.
 * <p>
 * Each request has the same number of Redis keys: those of counts, then those of the
 * blocks of its identifiers, then those of denials where a policy has a penalty; and one
 * argument: numbers (big-endian doubles), the names of its policies, and its metadata, if
 * that is used. The reply has one value for each request: a byte (1 if allowed) and
 * numbers, then the same for each of its policies in shadow mode; or the text of an
 * error. If a request is denied, the numbers end with two for each policy with a penalty
 * and identifier: when its block ends, and how long it lasts, or 0.
 */
@NullMarked
package io.github.ratelimit.redis.script;

import org.jspecify.annotations.NullMarked;
