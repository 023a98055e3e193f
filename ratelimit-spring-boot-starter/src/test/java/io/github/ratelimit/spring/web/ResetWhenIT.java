package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Semaphore;
import java.util.stream.IntStream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.eclipse.jetty.ee11.servlet.ServletApiRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.util.WebUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Who mistypes a password and then has it right starts anew: for that account and from
 * that address, whatever answers the login.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY }, value = """
		ratelimit.policies:
		  path: { paths: [POST /form, GET /basic, POST /nobody, POST /broken], limits: 5/15m,
		    identifiers: ip+header:X-Account, count-when: 'status in [401]',
		    reset-when: 'status in [200, 204]', reset: ip+header:X-Account }
		  method: { limits: 5/15m, identifiers: ip+header:X-Account, count-when: 'status in [401]',
		    reset-when: 'status in [200, 204]', reset: ip+header:X-Account }
		  address: { paths: [POST /form, GET /basic, POST /nobody, POST /open], limits: 20/15m,
		    count-when: 'status in [401]' }
		""")
class ResetWhenIT extends WithApplication {

	private static final Semaphore clientIsGone = new Semaphore(0);

	private static final Identifier ANNA = Identifier
		.combine(List.of(Identifier.ip("127.0.0.1"), new Identifier("header:X-Account", "anna")));

	/** Filters of Spring Security, another thread, and a limited method. */
	@ParameterizedTest
	@CsvSource({ "/form, path", "/basic, path", "/nobody, path", "/open, method" })
	void successClearsTheAccountButNotTheAddress(String path, String policy) {
		assertThat(logIn(3, path, "anna", "wrong")).containsOnly(401);
		assertThat(logIn(1, path, "anna", "secret")).containsOnly(200);
		this.application.assertUsed(policy, ANNA, 0);
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

	@Test
	void requestThatTheContainerFailsClearsNothing() throws IOException {
		logIn(3, "/form", "anna", "wrong");
		try (Socket client = this.application.connect()) {
			client.getOutputStream()
				.write("POST /broken HTTP/1.1\r\nHost: localhost\r\nX-Account: anna\r\nContent-Length: 0\r\n\r\n"
					.getBytes(StandardCharsets.US_ASCII));
			this.application.assertUsed("path", ANNA, 4);
		}
		clientIsGone.release();
		this.application.assertUsed("path", ANNA, 3);
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

		/** Takes the failure for nothing. */
		@PostMapping("/broken")
		void broken(HttpServletRequest request, HttpServletResponse response) {
			AsyncContext async = request.startAsync();
			async.addListener(new AsyncListener() {

				@Override
				public void onError(AsyncEvent event) {
					async.complete();
				}

				@Override
				public void onComplete(AsyncEvent event) {
				}

				@Override
				public void onTimeout(AsyncEvent event) {
				}

				@Override
				public void onStartAsync(AsyncEvent event) {
				}

			});
			new Thread(() -> fail(request, response)).start();
		}

		/** Jetty hears of a client that is gone where this has reset a stream. */
		private static void fail(HttpServletRequest request, HttpServletResponse response) {
			clientIsGone.acquireUninterruptibly();
			ServletApiRequest jetty = WebUtils.getNativeRequest(request, ServletApiRequest.class);
			try {
				while (jetty == null) {
					response.getOutputStream().write(new byte[1000]);
					response.flushBuffer();
				}
				jetty.getServletRequestInfo().getState().asyncError(new IOException("expected by this test"));
			}
			catch (IOException ex) {
				// Tomcat has noticed.
			}
		}

		@PostMapping("/open")
		@RateLimited("method")
		public ResponseEntity<String> answer(String password) {
			return ResponseEntity.status(password.equals("secret") ? 200 : 401).build();
		}

	}

}
