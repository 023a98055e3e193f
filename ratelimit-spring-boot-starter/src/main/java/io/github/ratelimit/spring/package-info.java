/**
 * Rate limiting in a Spring application, with or without the web.
 */
@NullMarked
package io.github.ratelimit.spring;

import org.jspecify.annotations.NullMarked;
