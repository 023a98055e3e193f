/**
 * How fast whole applications are with different limiters.
 */
@NullMarked
package io.github.ratelimit.benchmarks.application;

import org.jspecify.annotations.NullMarked;
