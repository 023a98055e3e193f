package io.github.ratelimit.sample;

import java.util.concurrent.CompletableFuture;

import io.github.ratelimit.algorithm.TokenBucket;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.policy.RateLimitPoliciesCustomizer;

import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Limited by a policy that is declared in code, and answered later.
 */
@RestController
class QuoteController {

	@Bean
	static RateLimitPoliciesCustomizer quotePolicy() {
		return (policies) -> policies.add("quotes").limits("1/10s").algorithm(new TokenBucket(3L));
	}

	@RateLimited("quotes")
	@GetMapping("/quote")
	CompletableFuture<String> quote() {
		return CompletableFuture.supplyAsync(() -> "Less is more\n");
	}

}
