package io.github.ratelimit.spring.web;

import org.springframework.boot.jetty.servlet.JettyServletWebServerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Lets Jetty serve the application of a test. */
@Configuration(proxyBeanMethods = false)
class JettyServer {

	@Bean
	JettyServletWebServerFactory jettyServer() {
		return new JettyServletWebServerFactory();
	}

}
