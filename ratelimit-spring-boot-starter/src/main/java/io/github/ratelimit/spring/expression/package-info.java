/**
 * Internal: expressions of the configuration and of annotations, which can only read.
 */
@NullMarked
package io.github.ratelimit.spring.expression;

import org.jspecify.annotations.NullMarked;
