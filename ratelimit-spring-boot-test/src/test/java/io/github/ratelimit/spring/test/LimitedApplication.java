package io.github.ratelimit.spring.test;

import java.util.concurrent.Callable;

import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.web.CostSettlement;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
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

		@PostMapping("/login")
		void login(@RequestParam String password, HttpServletResponse response) {
			response.setStatus(password.equals("secret") ? 200 : 401);
		}

		@GetMapping("/misspelt")
		void settle(HttpServletRequest request) {
			CostSettlement.of(request).settle("token", 5);
		}

		@GetMapping("/tokens")
		Callable<String> generate(@RequestParam long tokens, HttpServletRequest request) {
			CostSettlement costs = CostSettlement.of(request);
			return () -> {
				costs.settle("tokens", tokens);
				return "text";
			};
		}

	}

}
