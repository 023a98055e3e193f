/**
 * Policies: as they are configured, and how to add them in Java.
 */
@NullMarked
package io.github.ratelimit.spring.policy;

import org.jspecify.annotations.NullMarked;
