package io.github.ratelimit.spring.method

import io.github.ratelimit.spring.RateLimitExceededException
import io.github.ratelimit.spring.annotation.RateLimited
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.flow.flowOf
import kotlinx.coroutines.yield
import reactor.core.publisher.Mono
import java.io.IOException
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.atomic.AtomicInteger

open class SuspendingMethods {

	private val counter = AtomicInteger()

	private val ended = AtomicBoolean()

	open fun calls() = counter.get()

	open fun ended() = ended.get()

	@RateLimited(limits = ["1/m"])
	open suspend fun call(text: String): String {
		counter.incrementAndGet()
		yield()
		return "called $text"
	}

	@RateLimited(limits = ["1/m"])
	open suspend fun nothing() {
		counter.incrementAndGet()
	}

	@RateLimited(limits = ["2/m"])
	open suspend fun absent(): String? = null

	@RateLimited(limits = ["2/m"])
	open suspend fun thread(): Thread = Thread.currentThread()

	@RateLimited(limits = ["10/m"], costExpression = "#cost")
	open suspend fun negative(cost: Int): Int = counter.incrementAndGet()

	@RateLimited(limits = ["1/m"])
	open suspend fun failing(): String {
		yield()
		throw IOException("its own")
	}

	@RateLimited(limits = ["1/m"])
	open suspend fun endless() {
		try {
			awaitCancellation()
		}
		finally {
			ended.set(true)
		}
	}

	@RateLimited(limits = ["1/m"])
	open fun flow(): Flow<String> = flowOf("a", "b")

	@RateLimited(limits = ["1/m"])
	open suspend fun flowLater(): Flow<String> {
		yield()
		return flowOf("a", "b")
	}

}

suspend fun callAfterDelay(methods: SuspendingMethods): Thread {
	// A delay that is over at once does not change the thread.
	while (!Thread.currentThread().name.startsWith("kotlinx.coroutines.DefaultExecutor")) {
		delay(1)
	}
	return methods.thread()
}

interface SuspendingService<T> {

	suspend fun find(key: T): T

}

class SuspendingImplementation : SuspendingService<String> {

	@RateLimited(limits = ["1/m"], costExpression = "#key.length()", fallbackMethod = "instead")
	override suspend fun find(key: String): String {
		yield()
		return "found $key"
	}

	private suspend fun instead(key: String, ex: RateLimitExceededException): String {
		yield()
		return "$key: ${ex.message}"
	}

}

interface SuspendingClient {

	@RateLimited(limits = ["1/m"], identifiers = ["#id"])
	suspend fun call(id: String): String

	@RateLimited(limits = ["1/m"])
	suspend fun flow(): Flow<String>

}

open class SuspendingFallbacks {

	@RateLimited(limits = ["1/m"], fallbackMethod = "insteadLater")
	open suspend fun suspending(text: String) = "called $text"

	private suspend fun insteadLater(text: String): String {
		yield()
		return "instead of $text"
	}

	@RateLimited(limits = ["1/m"], fallbackMethod = "insteadNow")
	open suspend fun plain(text: String): Any = "called $text"

	private fun insteadNow(text: String, ex: RateLimitExceededException) = "$text: ${ex.message}"

	@RateLimited(limits = ["1/m"], fallbackMethod = "insteadOfNumber")
	open suspend fun number(): Int = 1

	private fun insteadOfNumber(): Int = 42

	@RateLimited(limits = ["1/m"], fallbackMethod = "insteadAbsent")
	open suspend fun absent(): String? = "called"

	private fun insteadAbsent(): String? = null

	@RateLimited(limits = ["1/m"], fallbackMethod = "insteadOfNothing")
	open suspend fun nothing() {
	}

	private suspend fun insteadOfNothing() {
		yield()
		throw IOException("too often")
	}

	@RateLimited(limits = ["1/m"], fallbackMethod = "insteadOfFlow")
	open suspend fun flow(): Flow<String> = flowOf("called")

	private fun insteadOfFlow(): Flow<String> = flowOf("instead", "of it")

	@RateLimited(limits = ["1/m"], fallbackMethod = "insteadOfFlowLater")
	open suspend fun flowLater(): Flow<String> = flowOf("called")

	private suspend fun insteadOfFlowLater(): Flow<String> {
		yield()
		return flowOf("later")
	}

}

open class FallbackOfOtherResult {

	@RateLimited(limits = ["1/m"], fallbackMethod = "instead")
	open suspend fun call(text: String): String = text

	private suspend fun instead(text: String): Int = 0

}

open class FallbackOnlySuspends {

	@RateLimited(limits = ["1/m"], fallbackMethod = "instead")
	open fun call(text: String): Any = text

	private suspend fun instead(text: String): Any = text

}

open class ContinuationInExpression {

	@RateLimited(limits = ["1/m"], identifiers = ["#a1"])
	open suspend fun call(text: String) = text

}

open class SuspendingMono {

	@RateLimited(limits = ["1/m"])
	open suspend fun call(): Mono<String> = Mono.just("called")

}

open class SuspendingStateFlow {

	@RateLimited(limits = ["1/m"])
	open suspend fun call(): StateFlow<String> = MutableStateFlow("called")

}
