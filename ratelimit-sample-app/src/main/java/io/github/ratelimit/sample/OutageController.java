package io.github.ratelimit.sample;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * The same limit with each {@code on-store-failure}, to compare them while Redis is down.
 */
@RestController
class OutageController {

	@GetMapping({ "/outage/local", "/outage/allow", "/outage/deny" })
	String outage() {
		return "Allowed\n";
	}

}
