/**
 * The filters that limit HTTP requests, what is kept of a request, and its true cost.
 * Paths, identifiers and answers have packages of their own.
 */
@NullMarked
package io.github.ratelimit.spring.web;

import org.jspecify.annotations.NullMarked;
