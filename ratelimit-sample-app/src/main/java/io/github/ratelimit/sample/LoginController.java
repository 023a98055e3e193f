package io.github.ratelimit.sample;

import io.github.ratelimit.spring.annotation.RateLimited;

import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Limited by an annotation: five attempts for an address, and five for a user name
 * whatever the address.
 */
@RestController
class LoginController {

	@RateLimited(limits = "5/15m", identifiers = { "ip", "header:X-User" })
	@PostMapping("/login")
	String login() {
		return "Wrong password\n";
	}

}
