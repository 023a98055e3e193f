/**
 * Internal: whom the application lets read its responses, and its security headers.
 */
@NullMarked
package io.github.ratelimit.spring.web.cors;

import org.jspecify.annotations.NullMarked;
