package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.net.http.HttpResponse;

import io.github.ratelimit.StoreException;
import io.github.ratelimit.spring.CallerDeniedException;
import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.servlet.Filter;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Methods with {@code @RateLimited} that filters and plain servlets call.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY })
class DeniedOutsideHandlerIT {

	@Parameter
	TestApplication application;

	@ParameterizedTest
	@ValueSource(strings = { "/filter", "/servlet", "/wrapped" })
	void deniedRequestIsAnsweredAsAllOthers(String path) {
		assertThat(this.application.get(path).statusCode()).isEqualTo(200);
		HttpResponse<String> denied = this.application.get(path);
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().firstValue("Retry-After")).hasValue("60");
		assertThat(denied.headers().firstValue("Content-Type")).hasValue("application/problem+json");
		assertThat(denied.headers().firstValue("RateLimit")).hasValue("\"plain\";r=0;t=60");
		assertThat(denied.body()).contains("quota-exceeded").contains("\"violated-policies\":[\"plain\"]");
	}

	@ParameterizedTest
	@CsvSource({ "/caller, 403", "/store, 503", "/broken, 500", "/no-cost, 400" })
	void otherExceptionsAreAnsweredAsInHandlers(String path, int status) {
		assertThat(this.application.get(path).statusCode()).isEqualTo(status);
	}

	@OpenApplication
	static class Application {

		@Bean
		Plain plain() {
			return new Plain();
		}

		@Bean
		ServletRegistrationBean<HttpServlet> servlet(Plain plain) {
			return new ServletRegistrationBean<>(new HttpServlet() {

				@Override
				protected void doGet(HttpServletRequest request, HttpServletResponse response)
						throws ServletException, IOException {
					switch (request.getServletPath()) {
						case "/servlet" -> plain.call();
						case "/wrapped" -> wrap(plain);
						default -> response.setStatus(200);
					}
				}

			}, "/servlet", "/wrapped", "/filter");
		}

		private static void wrap(Plain plain) throws ServletException {
			try {
				plain.call();
			}
			catch (RuntimeException ex) {
				throw new ServletException(ex);
			}
		}

		@Bean
		FilterRegistrationBean<Filter> filter(Plain plain) {
			return TestApplication.filterAt(0, (request, response, chain) -> {
				switch (((HttpServletRequest) request).getServletPath()) {
					case "/filter" -> plain.call();
					case "/caller" -> throw new CallerDeniedException("no");
					case "/store" -> throw new StoreException("gone", new IllegalStateException());
					case "/no-cost" -> plain.cost(null);
					case "/broken" -> throw new IllegalStateException("broken");
					default -> {
					}
				}
				chain.doFilter(request, response);
			});
		}

	}

	static class Plain {

		@RateLimited(limits = "1/m", name = "plain")
		public void call() {
		}

		@RateLimited(limits = "9/m", name = "cost", costExpression = "#rows")
		public void cost(@Nullable Integer rows) {
		}

	}

}
