package io.github.ratelimit.sample;

import java.util.Map;

import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.spring.PolicyLimiter;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/**
 * A login by form, which is limited and cleared by {@code application.yml} alone. All
 * accounts have the same password.
 */
@RestController
@RequestMapping("/more/login")
class FormLoginController {

	private final PolicyLimiter limiter;

	FormLoginController(PolicyLimiter limiter) {
		this.limiter = limiter;
	}

	/**
	 * Answers without a body, which would be sent at once: so the counts are cleared
	 * before the client knows of its success.
	 */
	@PostMapping
	void logIn(@RequestParam String username, @RequestParam String password, HttpServletResponse response) {
		boolean right = LoginController.accountOf(username) != null && password.equals("right");
		response.setStatus(right ? HttpServletResponse.SC_OK : HttpServletResponse.SC_UNAUTHORIZED);
	}

	/** Returns what is left of each policy for the account {@code username} from here. */
	@GetMapping
	Map<String, Long> left() {
		return Map.of("account", left("more-login"), "address", left("more-login-address"));
	}

	private long left(String policy) {
		return this.limiter.peek(policy).statuses().stream().mapToLong(LimitStatus::remaining).min().orElse(0);
	}

}
