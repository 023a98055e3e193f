package io.github.ratelimit.sample;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/**
 * Limited by its path; see {@code application.yml}.
 */
@RestController
class SearchController {

	@GetMapping("/api/search")
	String search(@RequestParam(defaultValue = "") String q) {
		return "Results for '" + q + "'\n";
	}

}
