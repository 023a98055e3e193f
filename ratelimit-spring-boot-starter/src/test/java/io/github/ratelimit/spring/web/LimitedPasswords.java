package io.github.ratelimit.spring.web;

import java.text.Normalizer;
import java.util.Locale;

import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.PolicyLimiter.Acquisition;
import io.github.ratelimit.spring.PolicyLimiter.Use;
import io.github.ratelimit.spring.RateLimitExceededException;

import org.springframework.security.authentication.AuthenticationServiceException;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.authentication.dao.DaoAuthenticationProvider;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.stereotype.Component;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;

/**
 * Limits how often passwords are tried for an account: shown in {@code docs/login.md}.
 */
@Component
class LimitedPasswords extends DaoAuthenticationProvider {

	private final PolicyLimiter limiter;

	LimitedPasswords(UserDetailsService users, PasswordEncoder encoder, PolicyLimiter limiter) {
		super(users);
		setPasswordEncoder(encoder);
		this.limiter = limiter;
	}

	@Override
	public Authentication authenticate(Authentication login) {
		String account = normalized(login.getName());
		if (account.length() > 100) {
			throw new BadCredentialsException("The name is too long"); // it would be kept
		}
		RequestContextHolder.currentRequestAttributes()
			.setAttribute("login.account", account, RequestAttributes.SCOPE_REQUEST);
		Acquisition attempt = this.limiter.tryAcquire(Use.of("login"), Use.of("login-account"),
				Use.of("login-address"));
		if (!attempt.allowed()) {
			throw new RateLimitExceededException(attempt.decision()); // 429
		}
		try {
			Authentication user = super.authenticate(withName(account, login));
			attempt.refund();
			attempt.decision()
				.statuses()
				.stream()
				.filter((status) -> !status.policy().name().equals("login-address"))
				.forEach((status) -> this.limiter.reset(status.policy().name(), status.identifier()));
			return user;
		}
		catch (AuthenticationServiceException ex) {
			attempt.refund(); // the database failed: nobody has guessed
			throw ex;
		}
	}

	private static Authentication withName(String account, Authentication login) {
		UsernamePasswordAuthenticationToken token = UsernamePasswordAuthenticationToken.unauthenticated(account,
				login.getCredentials());
		token.setDetails(login.getDetails());
		return token;
	}

	static String normalized(String name) {
		return Normalizer.normalize(name, Normalizer.Form.NFKC).strip().toLowerCase(Locale.ROOT);
	}

}
