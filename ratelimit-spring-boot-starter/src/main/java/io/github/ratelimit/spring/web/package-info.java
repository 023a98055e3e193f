/**
 * Rate limiting of HTTP requests: their identifiers, the limited paths, and the
 * responses.
 */
@NullMarked
package io.github.ratelimit.spring.web;

import org.jspecify.annotations.NullMarked;
