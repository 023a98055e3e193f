/**
 * Programs that measure what the algorithms cost and admit, and draw it. Each is run by
 * one command, which stands in its Javadoc.
 */
@NullMarked
package io.github.ratelimit.benchmarks;

import org.jspecify.annotations.NullMarked;
