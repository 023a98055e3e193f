package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.spring.PlanResolver;
import io.github.ratelimit.spring.PolicySource;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.authentication.AuthenticationEntryPointFailureHandler;
import org.springframework.security.web.authentication.HttpStatusEntryPoint;
import org.springframework.security.web.authentication.UsernamePasswordAuthenticationFilter;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * An application with Spring Security, into which anna, berta and clara can log in by
 * form, HTTP Basic, and a filter of its own. Anna and clara have plans.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(TestUsers.class)
@RestController
class LoginApplication {

	@GetMapping({ "/basic", "/own", "/tariff", "/twice", "/named", "/only", "/guarded", "/hammered", "/failed" })
	String get() {
		return "served";
	}

	@Bean
	PlanResolver planResolver() {
		return (user, request) -> Map.of("anna", "pro", "clara", "partner").get(user.getName());
	}

	@Bean
	PolicySource moreForAnna() {
		return (policy, caller) -> {
			Identifier user = policy.policy().name().equals("named") ? caller.find("user") : null;
			return (user != null && user.value().equals("anna")) ? policy.withLimits(List.of(Limit.parse("3/m")))
					: policy;
		};
	}

	@Bean
	SecurityFilterChain security(HttpSecurity http) {
		return http.csrf(AbstractHttpConfigurer::disable)
			.authorizeHttpRequests((requests) -> requests.anyRequest().authenticated())
			.httpBasic(Customizer.withDefaults())
			.formLogin(
					(form) -> form.loginProcessingUrl("/form")
						.successHandler((request, response, authentication) -> response.setStatus(200))
						.failureHandler(new AuthenticationEntryPointFailureHandler(
								new HttpStatusEntryPoint(HttpStatus.UNAUTHORIZED))))
			.addFilterBefore(new OwnFilter(), UsernamePasswordAuthenticationFilter.class)
			.build();
	}

	/** Answers wrong keys by itself. */
	private static final class OwnFilter extends OncePerRequestFilter {

		@Override
		protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
				throws ServletException, IOException {
			String key = request.getHeader("X-Key");
			if (key != null && !key.endsWith(":secret")) {
				response.setStatus(HttpServletResponse.SC_UNAUTHORIZED);
				return;
			}
			if (key != null) {
				SecurityContextHolder.getContext()
					.setAuthentication(UsernamePasswordAuthenticationToken
						.authenticated(key.substring(0, key.indexOf(':')), null, List.of()));
			}
			chain.doFilter(request, response);
		}

	}

}
