package io.github.ratelimit.spring.web;

import java.io.IOException;

import io.github.ratelimit.spring.OpenApplication;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.filter.HiddenHttpMethodFilter;
import org.springframework.web.filter.OncePerRequestFilter;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Filters that change the method of a request: before the limiter, its policies see the
 * new method; behind it, only policies without a method count the request.
 */
@StartApplication("""
		spring.mvc.hiddenmethod.filter.enabled: true
		ratelimit.policies:
		  deletions: { paths: DELETE /user/**, limits: 100/h }
		  users: { paths: /user/**, limits: 100/h }
		""")
class MethodOverrideIT {

	/** One before the limiter. */
	private static final int EARLY = -111;

	@Parameter
	TestApplication application;

	@ParameterizedTest
	@CsvSource({ "DELETE, /user/1, X-None, 1", "POST, /user/1?_method=DELETE, X-None, 1", "POST, /user/1, X-Early, 1",
			"POST, /user/1?_late=DELETE, X-None, 0", "POST, /user/1, X-Late, 0" })
	void policyWithMethodCountsWhatIsOverriddenBeforeIt(String method, String path, String header, long counted) {
		assertThat(this.application.send(method, path, header, "DELETE").body()).isEqualTo("deleted");
		assertThat(this.application.decisions("deletions")).isEqualTo(counted);
		assertThat(this.application.decisions("users")).isOne();
	}

	@OpenApplication
	@Import(Users.class)
	static class Application {

		@Bean
		FilterRegistrationBean<HeaderFilter> early() {
			return TestApplication.filterAt(EARLY, new HeaderFilter("X-Early"));
		}

		@Bean
		Filter late() {
			return new HeaderFilter("X-Late");
		}

		/** Beside that of Spring Boot, which comes early. */
		@Bean
		FilterRegistrationBean<HiddenHttpMethodFilter> lateHidden() {
			HiddenHttpMethodFilter hidden = new HiddenHttpMethodFilter();
			hidden.setMethodParam("_late");
			return new FilterRegistrationBean<>(hidden);
		}

	}

	@RestController
	static class Users {

		@DeleteMapping("/user/{id}")
		String delete() {
			return "deleted";
		}

	}

	/** A filter as applications have it. */
	private static final class HeaderFilter extends OncePerRequestFilter {

		private final String header;

		HeaderFilter(String header) {
			this.header = header;
		}

		/** Two instances filter one request. */
		@Override
		protected String getAlreadyFilteredAttributeName() {
			return super.getAlreadyFilteredAttributeName() + this.header;
		}

		@Override
		protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
				throws ServletException, IOException {
			String method = request.getHeader(this.header);
			chain.doFilter((method == null) ? request : new HttpServletRequestWrapper(request) {

				@Override
				public String getMethod() {
					return method;
				}

			}, response);
		}

	}

}
