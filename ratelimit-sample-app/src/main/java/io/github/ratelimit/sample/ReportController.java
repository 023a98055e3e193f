package io.github.ratelimit.sample;

import io.github.ratelimit.spring.annotation.RateLimited;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/**
 * Limited by an annotation with inline limits. Large reports cost more, and a denied
 * caller gets a fallback answer with status 200.
 */
@RestController
class ReportController {

	@RateLimited(limits = "10/m", costExpression = "#rows > 0 ? #rows / 100 + 1 : 1", fallbackMethod = "reportLater")
	@GetMapping("/report")
	String report(@RequestParam int rows) {
		return "A report of %s rows%n".formatted(rows);
	}

	private String reportLater(int rows) {
		return "The report of %s rows will be sent to you%n".formatted(rows);
	}

}
