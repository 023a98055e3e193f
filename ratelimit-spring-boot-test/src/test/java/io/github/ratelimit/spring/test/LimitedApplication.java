package io.github.ratelimit.spring.test;

import io.github.ratelimit.spring.annotation.RateLimited;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * The application of somebody who tests it.
 */
@SpringBootApplication
class LimitedApplication {

	@RestController
	static class GreetingController {

		@GetMapping("/greeting")
		String greet() {
			return "hello";
		}

		@GetMapping("/farewell")
		@RateLimited(limits = "1/m")
		String leave() {
			return "bye";
		}

	}

}
