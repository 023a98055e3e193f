/**
 * Internal: reads settings, checks them, and refreshes policies.
 */
@NullMarked
package io.github.ratelimit.spring.config;

import org.jspecify.annotations.NullMarked;
