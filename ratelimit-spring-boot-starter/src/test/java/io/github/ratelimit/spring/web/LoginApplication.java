package io.github.ratelimit.spring.web;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import io.github.ratelimit.spring.PlanResolver;
import io.github.ratelimit.spring.PolicySource;
import io.github.ratelimit.spring.annotation.RateLimited;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.crypto.bcrypt.BCryptPasswordEncoder;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.authentication.AuthenticationEntryPointFailureHandler;
import org.springframework.security.web.authentication.HttpStatusEntryPoint;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * An application with Spring Security, into which {@link TestUsers} can log in by form or
 * HTTP Basic; anybody can ask for {@code /open} and {@code /nobody}. All but berta have
 * plans.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(LoginApplication.TestUsers.class)
@RestController
class LoginApplication {

	/** Change policies, by their names. */
	static final Map<String, PolicySource> sources = new ConcurrentHashMap<>();

	@RequestMapping("/**")
	String serve() {
		return "served";
	}

	@GetMapping("/method")
	@RateLimited("method")
	public String method() {
		return "served";
	}

	@Bean
	PlanResolver planResolver() {
		return (user, request) -> Map.of("anna", "pro", "carla", "free", "clara", "partner", "anonymousUser", "partner")
			.get(user.getName());
	}

	@Bean
	PolicySource source() {
		return (policy, caller) -> {
			PolicySource source = sources.get(policy.policy().name());
			return (source != null) ? source.current(policy, caller) : policy;
		};
	}

	@Bean
	SecurityFilterChain security(HttpSecurity http) {
		return http.csrf(AbstractHttpConfigurer::disable)
			.authorizeHttpRequests((requests) -> requests.requestMatchers("/open", "/nobody", "/broken")
				.permitAll()
				.anyRequest()
				.authenticated())
			.httpBasic(Customizer.withDefaults())
			.formLogin(
					(form) -> form.loginProcessingUrl("/form")
						.successHandler((request, response, authentication) -> response.setStatus(200))
						.failureHandler(new AuthenticationEntryPointFailureHandler(
								new HttpStatusEntryPoint(HttpStatus.UNAUTHORIZED))))
			.build();
	}

	/** Users whose password is "secret". */
	@Configuration(proxyBeanMethods = false)
	static class TestUsers {

		/** Each login takes a tenth of a second with the strength that is the default. */
		@Bean
		PasswordEncoder passwordEncoder() {
			return new BCryptPasswordEncoder(4);
		}

		@Bean
		InMemoryUserDetailsManager users(PasswordEncoder encoder) {
			return new InMemoryUserDetailsManager(Stream.of("anna", "berta", "carla", "clara")
				.map((name) -> User.withUsername(name).password(encoder.encode("secret")).build())
				.toList());
		}

	}

}
