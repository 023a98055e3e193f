/**
 * The annotation of limited methods.
 */
@NullMarked
package io.github.ratelimit.spring.annotation;

import org.jspecify.annotations.NullMarked;
