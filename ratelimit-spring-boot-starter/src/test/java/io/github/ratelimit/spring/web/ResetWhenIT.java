package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Who mistypes a password and then has it right starts anew: for that account and from
 * that address, whatever answers the login.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY }, value = """
		ratelimit.policies:
		  path: { paths: [POST /form, GET /basic, POST /nobody], limits: 5/15m, identifiers: ip+header:X-Account,
		    count-when: 'status in [401]', reset-when: 'status in [200, 204]', reset: ip+header:X-Account }
		  method: { limits: 5/15m, identifiers: ip+header:X-Account, count-when: 'status in [401]',
		    reset-when: 'status in [200, 204]', reset: ip+header:X-Account }
		  address: { paths: [POST /form, GET /basic, POST /nobody, POST /open], limits: 20/15m,
		    count-when: 'status in [401]' }
		""")
class ResetWhenIT extends WithApplication {

	/** Filters of Spring Security, another thread, and a limited method. */
	@ParameterizedTest
	@CsvSource({ "/form, path", "/basic, path", "/nobody, path", "/open, method" })
	void successClearsTheAccountButNotTheAddress(String path, String policy) {
		assertThat(logIn(3, path, "anna", "wrong")).containsOnly(401);
		assertThat(logIn(1, path, "anna", "secret")).containsOnly(200);
		this.application.assertUsed(policy,
				Identifier.combine(List.of(Identifier.ip("127.0.0.1"), new Identifier("header:X-Account", "anna"))), 0);
		assertThat(logIn(6, path, "anna", "wrong")).containsExactly(401, 401, 401, 401, 401, 429);
		this.application.assertUsed("address", 8);
	}

	@Test
	void ownAccountClearsNothingOfAnother() {
		for (int i = 0; i < 5; i++) {
			assertThat(logIn(1, "/form", "anna", "wrong")).containsOnly(401);
			assertThat(logIn(1, "/form", "berta", "secret")).containsOnly(200);
		}
		assertThat(logIn(1, "/form", "anna", "secret")).containsOnly(429);
	}

	private List<Integer> logIn(int times, String path, String user, String password) {
		return IntStream.range(0, times)
			.mapToObj((i) -> path.equals("/basic")
					? this.application.getAs(user + ":" + password, path, "X-Account", user)
					: this.application.send("POST", path + "?username=" + user + "&password=" + password, "X-Account",
							user))
			.map(HttpResponse::statusCode)
			.toList();
	}

	static class Application extends LoginApplication {

		@PostMapping("/nobody")
		Callable<ResponseEntity<String>> later(String password) {
			return () -> answer(password);
		}

		@PostMapping("/open")
		@RateLimited("method")
		public ResponseEntity<String> answer(String password) {
			return ResponseEntity.status(password.equals("secret") ? 200 : 401).build();
		}

	}

}
