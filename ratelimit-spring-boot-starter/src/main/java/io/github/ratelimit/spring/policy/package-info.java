/**
 * Internal: properties to policies, plans, refresh, and what decides.
 */
@NullMarked
package io.github.ratelimit.spring.policy;

import org.jspecify.annotations.NullMarked;
