package io.github.ratelimit.sample;

import io.github.ratelimit.spring.annotation.RateLimited;

import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Limited by an annotation that names a policy: five attempts for an address, and five
 * for a user name whatever the address. Nobody may guess passwords while Redis is down.
 */
@RestController
class LoginController {

	@RateLimited("login")
	@PostMapping("/login")
	String login() {
		return "Wrong password\n";
	}

}
