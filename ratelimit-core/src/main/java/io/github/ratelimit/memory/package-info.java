/**
 * The store in memory, for one process: the reference that the stores in Redis are tested
 * against.
 */
@NullMarked
package io.github.ratelimit.memory;

import org.jspecify.annotations.NullMarked;
