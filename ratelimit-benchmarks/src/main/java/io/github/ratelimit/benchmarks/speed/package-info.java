/**
 * How fast decisions are, beside those of other libraries and plain commands of Redis.
 */
@NullMarked
package io.github.ratelimit.benchmarks.speed;

import org.jspecify.annotations.NullMarked;
