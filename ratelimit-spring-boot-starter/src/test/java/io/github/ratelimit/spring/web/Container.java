package io.github.ratelimit.spring.web;

import org.springframework.boot.jetty.autoconfigure.servlet.JettyServletWebServerAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** The servlet containers that Spring Boot has. */
enum Container {

	/** It serves all tests that do not say otherwise: see {@link TomcatByDefault}. */
	TOMCAT(OnTomcat.class),

	/** With all that Spring Boot does for it. */
	JETTY(OnJetty.class);

	private final Class<?> configuration;

	Container(Class<?> configuration) {
		this.configuration = configuration;
	}

	/** What lets an application run on this container. */
	Class<?> configuration() {
		return this.configuration;
	}

	@Configuration(proxyBeanMethods = false)
	static class OnTomcat {

	}

	@Configuration(proxyBeanMethods = false)
	@Import(JettyServletWebServerAutoConfiguration.class)
	static class OnJetty {

	}

}
