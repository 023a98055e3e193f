/**
 * The store in memory, for one process. The stores in Redis are tested against it.
 */
@NullMarked
package io.github.ratelimit.memory;

import org.jspecify.annotations.NullMarked;
