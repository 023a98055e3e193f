/**
 * Internal: decides requests over policies, and what has to be settled later.
 */
@NullMarked
package io.github.ratelimit.spring.decide;

import org.jspecify.annotations.NullMarked;
