/**
 * Support for tests of applications with rate limits.
 */
@NullMarked
package io.github.ratelimit.spring.test;

import org.jspecify.annotations.NullMarked;
