package io.github.ratelimit.sample;

import java.time.Duration;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.PolicyLimiter.Acquisition;
import io.github.ratelimit.spring.RateLimitExceededException;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/**
 * Waits in line until its limit allows it, instead of being denied. The wait occupies the
 * thread of the request, so it is short.
 */
@RestController
class WaitingController {

	private static final int LONGEST = 10;

	private final PolicyLimiter limiter;

	WaitingController(PolicyLimiter limiter) {
		this.limiter = limiter;
	}

	/**
	 * Waits at most so many seconds, from 0 to 10. If these cannot suffice, it is denied
	 * at once.
	 */
	@GetMapping("/more/waiting")
	String inLine(@RequestHeader("X-Client") String client, @RequestParam int seconds) throws InterruptedException {
		Acquisition call = this.limiter.acquire("more-waiting", new Identifier("header:X-Client", client),
				Duration.ofSeconds(Math.max(0, Math.min(seconds, LONGEST))));
		if (!call.allowed()) {
			throw new RateLimitExceededException(call.decision());
		}
		return "Allowed\n";
	}

}
