/**
 * The algorithms. Each is a record with the options, a package-private
 * {@link io.github.ratelimit.Meter} in plain Java, and a fragment of a script for Redis
 * in a resource of this package. Some algorithms share a meter and a fragment. Both do
 * the same in the same order, so that they can be read side by side.
 */
@NullMarked
package io.github.ratelimit.algorithm;

import org.jspecify.annotations.NullMarked;
