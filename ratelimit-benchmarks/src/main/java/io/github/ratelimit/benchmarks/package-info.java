/**
 * Programs that measure and draw what the algorithms cost and admit. The Javadoc of each
 * contains the command to run it.
 */
@NullMarked
package io.github.ratelimit.benchmarks;

import org.jspecify.annotations.NullMarked;
