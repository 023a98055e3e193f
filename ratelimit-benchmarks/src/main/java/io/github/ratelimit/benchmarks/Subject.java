package io.github.ratelimit.benchmarks;

import java.util.function.IntConsumer;

/**
 * Something whose cost is measured by calling it many times.
 *
 * @param command the lower-case Redis command that each call is
 * @param call makes the call of a number, from 0
 */
record Subject(String command, IntConsumer call) {

}
