/**
 * Auto-configuration of rate limiting, from the properties below {@code ratelimit}.
 */
@NullMarked
package io.github.ratelimit.spring.autoconfigure;

import org.jspecify.annotations.NullMarked;
