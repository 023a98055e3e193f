package io.github.ratelimit.sample;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * One quota with two costs: reading costs 1, writing costs 2, as configured in
 * {@code application.yml}.
 */
@RestController
@RequestMapping("/user")
class UserController {

	@GetMapping
	String read() {
		return "The user\n";
	}

	@PostMapping
	String write() {
		return "The user is written\n";
	}

}
