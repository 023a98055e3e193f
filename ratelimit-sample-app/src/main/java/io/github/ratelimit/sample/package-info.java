/**
 * A web application with rate limits, to try and to read.
 */
@NullMarked
package io.github.ratelimit.sample;

import org.jspecify.annotations.NullMarked;
