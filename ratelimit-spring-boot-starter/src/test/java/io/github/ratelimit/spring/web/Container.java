package io.github.ratelimit.spring.web;

import org.eclipse.jetty.ee11.servlet.ServletHandler;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;
import org.springframework.boot.jetty.autoconfigure.servlet.JettyServletWebServerAutoConfiguration;
import org.springframework.boot.jetty.servlet.JettyServletWebServerFactory;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** The servlet containers that Spring Boot has. */
enum Container {

	/** It serves all tests that do not say otherwise: see {@link TomcatByDefault}. */
	TOMCAT,

	/** With all that Spring Boot does for it. */
	JETTY;

	/** What lets an application run on this container. */
	Class<?> configuration() {
		return (this == JETTY) ? OnJetty.class : OnTomcat.class;
	}

	@Configuration(proxyBeanMethods = false)
	static class OnTomcat {

	}

	@Configuration(proxyBeanMethods = false)
	@Import(JettyServletWebServerAutoConfiguration.class)
	static class OnJetty {

	}

	/** Lets each container accept paths that it rejects by default. */
	@Configuration(proxyBeanMethods = false)
	static class Lenience {

		@Bean
		WebServerFactoryCustomizer<TomcatServletWebServerFactory> tomcatLenience(
				@Value("${test.slashes:decode}") String slashes) {
			return (factory) -> factory.addConnectorCustomizers((connector) -> {
				connector.setProperty("relaxedPathChars", "\"<>[\\]^`{|}");
				connector.setProperty("allowBackslash", "true");
				connector.setEncodedSolidusHandling(slashes);
				if (slashes.equals("passthrough")) {
					connector.setEncodedReverseSolidusHandling(slashes);
				}
			});
		}

		@Bean
		WebServerFactoryCustomizer<JettyServletWebServerFactory> jettyLenience() {
			return (factory) -> factory.addServerCustomizers((server) -> {
				for (Connector connector : server.getConnectors()) {
					connector.getConnectionFactory(HttpConnectionFactory.class)
						.getHttpConfiguration()
						.setUriCompliance(UriCompliance.UNSAFE);
				}
				server.getDescendants(ServletHandler.class).forEach((handler) -> handler.setDecodeAmbiguousURIs(true));
			});
		}

	}

	/**
	 * Uses Tomcat for the applications of tests, though Jetty is on the class path too.
	 */
	static final class TomcatByDefault implements AutoConfigurationImportFilter {

		@Override
		public boolean[] match(@Nullable String[] autoConfigurationClasses, AutoConfigurationMetadata metadata) {
			boolean[] matches = new boolean[autoConfigurationClasses.length];
			for (int i = 0; i < matches.length; i++) {
				String name = autoConfigurationClasses[i];
				matches[i] = name != null && !name.startsWith("org.springframework.boot.jetty.");
			}
			return matches;
		}

	}

}
