/**
 * Answers those who were denied without asking the store again.
 */
@NullMarked
package io.github.ratelimit.denial;

import org.jspecify.annotations.NullMarked;
