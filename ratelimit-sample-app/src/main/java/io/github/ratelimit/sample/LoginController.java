package io.github.ratelimit.sample;

import io.github.ratelimit.spring.annotation.RateLimited;

import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Limited by an annotation that names a policy: five attempts for each address, and five
 * for each user name from any address. While Redis is down, logins are denied, so that
 * nobody can guess passwords.
 */
@RestController
class LoginController {

	@RateLimited("login")
	@PostMapping("/login")
	String login() {
		return "Wrong password\n";
	}

}
