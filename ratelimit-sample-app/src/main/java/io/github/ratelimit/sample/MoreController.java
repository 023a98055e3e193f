package io.github.ratelimit.sample;

import java.time.Duration;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Limited by more than a rate: concurrent calls, a quota taken in advance or of a
 * calendar month, blocks, plans of users, and limits that are only reported.
 */
@RestController
class MoreController {

	private static final Duration SLOW = Duration.ofSeconds(1);

	@GetMapping("/more/concurrent")
	String slow() throws InterruptedException {
		Thread.sleep(SLOW.toMillis());
		return "Done\n";
	}

	@GetMapping({ "/more/lease", "/more/penalty", "/more/plans", "/more/shadow", "/more/block", "/more/month" })
	String fast() {
		return "Allowed\n";
	}

}
