/**
 * Internal: finds out which setting was meant, and where it stands.
 */
@NullMarked
package io.github.ratelimit.spring.config.diagnosis;

import org.jspecify.annotations.NullMarked;
