/**
 * Internal: what responses tell: the limits, and why a request is rejected.
 */
@NullMarked
package io.github.ratelimit.spring.web.answer;

import org.jspecify.annotations.NullMarked;
