package io.github.ratelimit.sample;

import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Shows {@code application.yml}, which has no secrets, so that the page has the settings
 * of each example beside it.
 */
@RestController
class ConfigurationController {

	@GetMapping(path = "/application.yml", produces = MediaType.TEXT_PLAIN_VALUE)
	Resource configuration() {
		return new ClassPathResource("application.yml");
	}

}
