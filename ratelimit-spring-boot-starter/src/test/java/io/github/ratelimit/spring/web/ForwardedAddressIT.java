package io.github.ratelimit.spring.web;

import java.util.function.Function;
import java.util.stream.Stream;

import org.apache.catalina.filters.RemoteIpFilter;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.ForwardedRequestCustomizer;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.jetty.servlet.JettyServletWebServerFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Clients behind proxies, and clients that invent addresses, where forwarded headers are
 * read by the limiter, the servers, or filters. The table {@code start-failures.csv} has
 * the settings that stop the start.
 */
@ExtendWith(OutputCaptureExtension.class)
class ForwardedAddressIT {

	@RegisterExtension
	static final TestApplication.Shared applications = new TestApplication.Shared();

	private static final String STRATEGY = "server.forward-headers-strategy=";

	private static final String PROXIES = "ratelimit.ip.trusted-proxies=10.0.0.0/8";

	/** Code can do what the strategy does. */
	@ParameterizedTest
	@CsvSource({ "TOMCAT, framework, false", "JETTY, framework, false", "JETTY, none, true" })
	void lastUntrustedAddressIsUsedWhateverReadsHeaders(Container container, String strategy, boolean customized) {
		TestApplication application = start(container,
				customized ? JettyCustomizer.class : TestApplication.Served.class, STRATEGY + strategy,
				"ratelimit.ip.trusted-proxies=127.0.0.1,10.0.0.0/8");
		assertCountedOnce(application, "X-Forwarded-For", "6.6.6.%d, 203.0.113.7, 10.0.0.2"::formatted);
		assertThat(application.get("/api", "X-Forwarded-For", "203.0.113.8").statusCode()).isEqualTo(200);
	}

	@ParameterizedTest
	@EnumSource
	void inventedAddressesDoNotCountInKubernetesWithoutStrategy(Container container) {
		assertCountedOnce(start(container, TestApplication.Served.class, PROXIES,
				"spring.main.cloud-platform=kubernetes", STRATEGY + "none"), "X-Forwarded-For", "6.6.6.%d"::formatted);
	}

	/** It replaces the address, and removes the header. */
	@Test
	void inventedAddressesDoNotCountBesideFilterOfTomcat(CapturedOutput output) {
		assertCountedOnce(start(Container.TOMCAT, TomcatFilter.class, PROXIES), "X-Forwarded-For",
				"6.6.6.%d"::formatted);
		assertThat(output).containsOnlyOnce("A RemoteIpValve or RemoteIpFilter of Tomcat reads forwarded headers");
	}

	@ParameterizedTest
	@CsvSource({ "TOMCAT, native", "TOMCAT, framework", "JETTY, native", "JETTY, framework" })
	void emptyHeaderIsCountedByAddressOfConnection(Container container, String strategy) {
		TestApplication application = start(container, TestApplication.Served.class, STRATEGY + strategy);
		assertThat(application.statuses(3, "/api")).containsOnly(200);
		assertThat(application.get("/api", "X-Forwarded-For", "").statusCode()).isEqualTo(429);
	}

	/** A server that trusts private addresses alone is not the same. */
	@ParameterizedTest
	@CsvSource({ "TOMCAT, framework, true", "JETTY, framework, true", "JETTY, native, true", "TOMCAT, native, false" })
	void forwardedHeaderThatAnyClientMaySendIsLogged(Container container, String strategy, boolean logged,
			CapturedOutput output) {
		TestApplication application = start(container, TestApplication.Served.class, STRATEGY + strategy, "once=true");
		assertThat(application.statuses(2, "/api", "X-Forwarded-For", "203.0.113.7")).containsOnly(200);
		assertThat(output.toString().split("Any client can choose the address that it is counted by", -1))
			.hasSize(logged ? 2 : 1);
		assertThat(output).doesNotContain("by the address of their connection");
	}

	/** None gets a count of its own by the way its address is written. */
	@ParameterizedTest
	@CsvSource({ "TOMCAT, framework, Forwarded, 'for=\"[2001:db8:1:2::%d]:555%<d\"'",
			"TOMCAT, framework, Forwarded, 'for=\"203.0.113.7:555%d\"'",
			"TOMCAT, framework, X-Forwarded-For, 203.0.113.7:%d", "JETTY, framework, X-Forwarded-For, [2001:db8::1]:%d",
			"TOMCAT, native, X-Forwarded-For, [2001:db8:1:2::%d]:555%<d",
			"TOMCAT, native, X-Forwarded-For, 203.0.113.7:555%d", "TOMCAT, none, X-Forwarded-For, 203.0.113.%d" })
	void addressesOfOneClientShareCount(Container container, String strategy, String header, String form) {
		TestApplication application = start(container, TestApplication.Served.class, STRATEGY + strategy);
		assertCountedOnce(application, header, form::formatted);
		assertThat(application.get("/api", header, "for=203.0.113.99".substring(header.equals("Forwarded") ? 0 : 4))
			.statusCode()).isEqualTo(strategy.equals("none") ? 429 : 200);
	}

	@Test
	void clientBehindTrustedProxiesCannotChooseAnotherCount() {
		TestApplication application = start(Container.TOMCAT, TestApplication.Served.class,
				"ratelimit.ip.trusted-proxies=127.0.0.0/8,10.0.0.0/8", "ratelimit.ip.forwarded-header=forwarded",
				"ratelimit.ip.ipv6-prefix=48");
		assertCountedOnce(application, "Forwarded",
				"for=6.6.6.%d, for=\"[2001:db8:1:%<d::1]\", for=10.0.0.2"::formatted);
		assertThat(application.get("/api", "Forwarded", "for=\"[2001:db8:2::1]\"").statusCode()).isEqualTo(200);
	}

	private static void assertCountedOnce(TestApplication application, String header,
			Function<Integer, String> address) {
		for (int i = 1; i <= 9; i++) {
			assertThat(application.get("/api", header, address.apply(i)).statusCode()).as("request %d", i)
				.isEqualTo((i <= 3) ? 200 : 429);
		}
	}

	private static TestApplication start(Container container, Class<?> configuration, String... properties) {
		return applications.get(container, configuration,
				Stream
					.concat(Stream.of("ratelimit.policies.api: { paths: /api/**, limits: 3/m }"), Stream.of(properties))
					.toArray(String[]::new));
	}

	static class JettyCustomizer extends TestApplication.Served {

		@Bean
		WebServerFactoryCustomizer<JettyServletWebServerFactory> customizer() {
			return (factory) -> factory.addServerCustomizers((server) -> {
				for (Connector connector : server.getConnectors()) {
					connector.getConnectionFactory(HttpConnectionFactory.class)
						.getHttpConfiguration()
						.addCustomizer(new ForwardedRequestCustomizer());
				}
			});
		}

	}

	static class TomcatFilter extends TestApplication.Served {

		@Bean
		FilterRegistrationBean<RemoteIpFilter> tomcatFilter() {
			return TestApplication.filterAt(Ordered.HIGHEST_PRECEDENCE, new RemoteIpFilter());
		}

	}

}
