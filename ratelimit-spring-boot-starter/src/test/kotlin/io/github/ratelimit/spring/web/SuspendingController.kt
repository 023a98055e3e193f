package io.github.ratelimit.spring.web

import io.github.ratelimit.spring.annotation.RateLimited
import kotlinx.coroutines.yield
import org.springframework.web.bind.annotation.GetMapping
import org.springframework.web.bind.annotation.RestController

@RestController
open class SuspendingController {

	@GetMapping("/handler")
	@RateLimited(limits = ["1/m"])
	open suspend fun handler(): String {
		yield()
		return "called"
	}

	@GetMapping("/suspending-tenant")
	@RateLimited(limits = ["1/m"], identifiers = ["header:X-Tenant"])
	open suspend fun tenant() = "called"

	@GetMapping("/counted-suspending")
	@RateLimited("failures")
	open suspend fun counted() = "called"

}

@RestController
open class CallingController(private val results: SuspendingResults) {

	@GetMapping("/call")
	open suspend fun call() = results.call()

}

open class SuspendingResults {

	@RateLimited(limits = ["1/m"])
	open suspend fun call(): String {
		yield()
		return "called"
	}

}
