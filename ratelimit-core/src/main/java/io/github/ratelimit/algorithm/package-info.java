/**
 * The algorithms: for each a record with its options, a package-private
 * {@link io.github.ratelimit.Meter} in plain Java, and a script part for Redis in the
 * resource {@code <name>.lua} of this package. The meter and the script part have the
 * same statements in the same order, so that they can be read side by side.
 */
@NullMarked
package io.github.ratelimit.algorithm;

import org.jspecify.annotations.NullMarked;
