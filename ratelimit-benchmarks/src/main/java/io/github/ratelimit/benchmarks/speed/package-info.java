/**
 * How fast decisions are, compared to other libraries and plain Redis commands.
 */
@NullMarked
package io.github.ratelimit.benchmarks.speed;

import org.jspecify.annotations.NullMarked;
