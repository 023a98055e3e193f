package io.github.ratelimit.benchmarks.application;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * The application without limits, to which all others are compared.
 */
@SpringBootApplication
@RestController
public class Application {

	public static void main(String[] arguments) {
		SpringApplication.run(Application.class, arguments);
	}

	@GetMapping("/hello")
	String hello() {
		return "hello";
	}

}
