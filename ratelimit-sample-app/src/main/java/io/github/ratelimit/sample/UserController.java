package io.github.ratelimit.sample;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * One quota, two prices: to read costs 1, to write costs 2, as {@code application.yml}
 * says.
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
