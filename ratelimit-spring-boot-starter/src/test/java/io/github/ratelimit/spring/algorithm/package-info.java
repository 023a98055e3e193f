/**
 * An algorithm of an application, as the documentation shows it.
 */
@NullMarked
package io.github.ratelimit.spring.algorithm;

import org.jspecify.annotations.NullMarked;
