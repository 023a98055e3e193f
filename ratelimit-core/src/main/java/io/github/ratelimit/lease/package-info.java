/**
 * Decides busy identifiers in memory, from parts of their quotas that are taken from the
 * store in advance.
 */
@NullMarked
package io.github.ratelimit.lease;

import org.jspecify.annotations.NullMarked;
