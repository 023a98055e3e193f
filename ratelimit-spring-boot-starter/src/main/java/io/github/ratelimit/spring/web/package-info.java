/**
 * Rate limiting of HTTP requests: who is asking, which paths are limited, and what the
 * client is told.
 */
@NullMarked
package io.github.ratelimit.spring.web;

import org.jspecify.annotations.NullMarked;
