package io.github.ratelimit.sample;

import java.text.Normalizer;
import java.util.Locale;
import java.util.Map;

import io.github.ratelimit.spring.IdentifierResolver;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.PolicyLimiter.Acquisition;
import io.github.ratelimit.spring.PolicyLimiter.Use;
import io.github.ratelimit.spring.RateLimitExceededException;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/**
 * Limited in code, because the account is known only when the body has been read: five
 * wrong passwords for an account from each address, and more of them from anywhere. A
 * right one is free, and clears both counts. While Redis is down, logins are denied, so
 * that nobody can guess passwords.
 */
@RestController
class LoginController {

	private static final String ACCOUNT = LoginController.class.getName() + ".account";

	/** Names are kept while they are counted. */
	private static final int LONGEST_NAME = 100;

	/** An application has hashes instead. */
	private static final Map<String, String> PASSWORDS = Map.of("alice", "wonderland");

	private final PolicyLimiter limiter;

	LoginController(PolicyLimiter limiter) {
		this.limiter = limiter;
	}

	@PostMapping("/login")
	ResponseEntity<String> login(@RequestBody Credentials credentials, HttpServletRequest request) {
		String account = accountOf(credentials.username());
		if (account == null) {
			return refused();
		}
		request.setAttribute(ACCOUNT, account);
		Acquisition attempt = this.limiter.tryAcquire(Use.of("login"), Use.of("login-account"));
		if (!attempt.allowed()) {
			throw new RateLimitExceededException(attempt.decision());
		}
		if (!credentials.password().equals(PASSWORDS.get(account))) {
			return refused();
		}
		attempt.refund();
		attempt.decision()
			.statuses()
			.forEach((status) -> this.limiter.reset(status.policy().name(), status.identifier()));
		return ResponseEntity.ok("Welcome, " + account + "\n");
	}

	private static ResponseEntity<String> refused() {
		return ResponseEntity.status(HttpStatus.UNAUTHORIZED).body("Wrong name or password\n");
	}

	/**
	 * Returns the account of a name, {@code null} if it is too long for one. All
	 * spellings of a name are one account, for the count and for the login.
	 */
	static @Nullable String accountOf(String name) {
		String account = Normalizer.normalize(name, Normalizer.Form.NFKC).strip().toLowerCase(Locale.ROOT);
		return (account.length() <= LONGEST_NAME) ? account : null;
	}

	/** The name that this login has read, or the field of the form of the other one. */
	@Bean
	static IdentifierResolver account() {
		return (request) -> {
			if (request.getAttribute(ACCOUNT) instanceof String account) {
				return account;
			}
			String name = request.getParameter("username");
			return (name != null) ? accountOf(name) : null;
		};
	}

	record Credentials(String username, String password) {

		Credentials {
			username = (username != null) ? username : "";
			password = (password != null) ? password : "";
		}

	}

}
