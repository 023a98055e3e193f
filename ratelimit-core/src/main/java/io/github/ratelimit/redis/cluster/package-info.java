/**
 * Sends calls to the nodes of a cluster that have their slots. Internal: not for users of
 * the library.
 */
@NullMarked
package io.github.ratelimit.redis.cluster;

import org.jspecify.annotations.NullMarked;
