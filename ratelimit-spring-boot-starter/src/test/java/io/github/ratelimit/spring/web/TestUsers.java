package io.github.ratelimit.spring.web;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.stream.Stream;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.crypto.bcrypt.BCryptPasswordEncoder;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;

/** Users whose password is "secret". */
@Configuration(proxyBeanMethods = false)
class TestUsers {

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

	/** Returns the header of a login such as "anna:secret" by HTTP Basic. */
	static String basic(String login) {
		return "Basic " + Base64.getEncoder().encodeToString(login.getBytes(StandardCharsets.UTF_8));
	}

}
