/**
 * Internal: the address of a client, also behind proxies.
 */
@NullMarked
package io.github.ratelimit.spring.web.address;

import org.jspecify.annotations.NullMarked;
