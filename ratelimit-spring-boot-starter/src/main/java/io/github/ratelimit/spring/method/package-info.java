/**
 * Internal: {@code @RateLimited} on methods of beans.
 */
@NullMarked
package io.github.ratelimit.spring.method;

import org.jspecify.annotations.NullMarked;
