/**
 * Rate limiting in Spring applications, web or not.
 */
@NullMarked
package io.github.ratelimit.spring;

import org.jspecify.annotations.NullMarked;
