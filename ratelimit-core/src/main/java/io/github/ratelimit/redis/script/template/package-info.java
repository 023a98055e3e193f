/**
 * How the Lua of a script is made. {@code request.lua} says what is done with a request,
 * step by step; the {@code Fragment} of an algorithm says how. A {@code Context} is what
 * lines are written for, such as one limit of one identifier. {@code docs/fragments.md}
 * describes the form of fragments. Internal: not for users of the library.
 */
@NullMarked
package io.github.ratelimit.redis.script.template;

import org.jspecify.annotations.NullMarked;
