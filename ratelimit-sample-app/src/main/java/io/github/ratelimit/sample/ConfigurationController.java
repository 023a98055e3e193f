package io.github.ratelimit.sample;

import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * Shows {@code application.yml}, which has no secrets, so that the page has the settings
 * of each example beside it, and the documentation.
 */
@RestController
class ConfigurationController {

	@GetMapping(path = "/application.yml", produces = MediaType.TEXT_PLAIN_VALUE)
	Resource configuration() {
		return new ClassPathResource("application.yml");
	}

	/** Shows a page of the documentation, from the folder {@code docs} of the project. */
	@GetMapping(path = "/docs/{page:[a-z-]+}.md", produces = "text/plain;charset=UTF-8")
	Resource documentation(@PathVariable String page) {
		Resource file = new ClassPathResource("docs/" + page + ".md");
		if (!file.exists()) {
			throw new ResponseStatusException(HttpStatus.NOT_FOUND);
		}
		return file;
	}

}
