package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;

import org.junit.jupiter.params.Parameter;

import static org.assertj.core.api.Assertions.assertThat;

/** The tests of a class with {@link StartApplication}. */
abstract class WithApplication {

	@Parameter
	TestApplication application;

	/** Sends a request, and asserts the status of its response. */
	HttpResponse<String> get(int status, String path, String... headers) {
		HttpResponse<String> response = this.application.get(path, headers);
		assertThat(response.statusCode()).as(path).isEqualTo(status);
		return response;
	}

}
