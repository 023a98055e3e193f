/**
 * Internal: limits of calls to other services.
 */
@NullMarked
package io.github.ratelimit.spring.client;

import org.jspecify.annotations.NullMarked;
