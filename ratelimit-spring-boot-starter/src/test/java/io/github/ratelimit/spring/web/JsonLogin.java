package io.github.ratelimit.spring.web;

import org.springframework.http.HttpStatus;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.config.annotation.authentication.configuration.AuthenticationConfiguration;
import org.springframework.security.core.AuthenticationException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** A login with a JSON body: shown in {@code docs/login.md}. */
@RestController
class JsonLogin {

	private final AuthenticationManager logins;

	JsonLogin(AuthenticationConfiguration configuration) {
		this.logins = configuration.getAuthenticationManager();
	}

	@PostMapping("/api/login")
	String logIn(@RequestBody Credentials credentials) {
		return this.logins
			.authenticate(
					UsernamePasswordAuthenticationToken.unauthenticated(credentials.username(), credentials.password()))
			.getName(); // and a session or a token, as before
	}

	@ExceptionHandler(AuthenticationException.class)
	@ResponseStatus(HttpStatus.UNAUTHORIZED)
	void refuse() {
	}

	record Credentials(String username, String password) {
	}

}
