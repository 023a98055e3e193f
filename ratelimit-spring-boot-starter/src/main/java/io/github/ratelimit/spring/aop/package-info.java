/**
 * Enforces the policies of annotated methods, by advice.
 */
@NullMarked
package io.github.ratelimit.spring.aop;

import org.jspecify.annotations.NullMarked;
