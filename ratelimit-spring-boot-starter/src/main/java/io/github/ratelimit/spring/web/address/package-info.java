/**
 * Internal: the address of a client, behind proxies too.
 */
@NullMarked
package io.github.ratelimit.spring.web.address;

import org.jspecify.annotations.NullMarked;
