package io.github.ratelimit.benchmarks.application;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Limited by the algorithm of Spring Cloud Gateway, through Spring Data Redis.
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
