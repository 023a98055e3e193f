package io.github.ratelimit.sample;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.algorithm.Algorithms;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * The same limits with each algorithm, to compare them, and one that instances share.
 * Pages of any origin may read the answers, including those of denied requests.
 */
@CrossOrigin
@RestController
class DemoController {

	@GetMapping("/demo/{algorithm}")
	String demo(@PathVariable String algorithm) {
		if (Algorithms.all().stream().map(Algorithm::name).noneMatch(algorithm::equals)) {
			throw new ResponseStatusException(HttpStatus.NOT_FOUND);
		}
		return "Allowed by " + algorithm + "\n";
	}

	@GetMapping("/shared")
	String shared() {
		return "Allowed\n";
	}

}
