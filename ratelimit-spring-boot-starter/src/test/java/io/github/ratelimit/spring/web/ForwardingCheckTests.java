package io.github.ratelimit.spring.web;

import io.github.ratelimit.spring.StarterRunners;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.jetty.servlet.JettyServletWebServerFactory;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.web.filter.ForwardedHeaderFilter;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link ForwardingCheck}.
 */
@ExtendWith(OutputCaptureExtension.class)
class ForwardingCheckTests {

	private final WebApplicationContextRunner runner = StarterRunners.web();

	@Test
	void strategyOfKubernetesIsLoggedOnJetty(CapturedOutput output) {
		start(this.runner.withBean(JettyServletWebServerFactory.class)
			.withPropertyValues("spring.main.cloud-platform=kubernetes"));
		assertThat(output).contains("because of server.forward-headers-strategy=native, which Spring Boot sets by"
				+ " itself on the cloud platform KUBERNETES");
	}

	@ParameterizedTest
	@ValueSource(strings = { "internal-proxies=.*", "trusted-proxies=[0-9.]+", "internal-proxies=203\\..+",
			"internal-proxies=10.0.0.0/8, 0.0.0.0/0", "internal-proxies=0.0.0.0/1,10.0.0.0/8",
			"trusted-proxies=64.0.0.0/2", "internal-proxies=1[0-8]\\d\\..*", "trusted-proxies=2000::/3",
			"internal-proxies=[0-9a-f:]+" })
	void proxiesOfTomcatThatAreAnybodyAreLogged(String proxies, CapturedOutput output) {
		start(this.runner.withPropertyValues("server.forward-headers-strategy=native",
				"server.tomcat.remoteip." + proxies));
		assertThat(output).contains("because of server.tomcat.remoteip." + proxies);
	}

	@ParameterizedTest
	@ValueSource(strings = { "internal-proxies=192\\.168\\.0\\.7", "trusted-proxies=104\\.16\\.\\d+\\.\\d+",
			"internal-proxies=192.168.0.0/16, fc00::/7, 127.0.0.0/8, 10.0.0.0/8, 100.64.0.0/10, 172.16.0.0/12",
			"internal-proxies=10\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}|172\\.1[6-9]{1}\\.\\d{1,3}\\.\\d{1,3}",
			"trusted-proxies=172.64.0.0/13,23.192.0.0/11,2606:4700::/32", "internal-proxies=203.0.113.7" })
	void narrowProxiesOfTomcatAreNotLogged(String proxies, CapturedOutput output) {
		start(this.runner.withPropertyValues("server.forward-headers-strategy=native",
				"server.tomcat.remoteip." + proxies));
		assertThat(output).doesNotContain("Any client can choose");
	}

	@Test
	void filterOfForwardedHeadersIsLogged(CapturedOutput output) {
		start(this.runner.withBean("forwarded", ForwardedHeaderFilter.class));
		assertThat(output).contains("because of the ForwardedHeaderFilter of the bean 'forwarded'");
		start(this.runner.withBean("registration", FilterRegistrationBean.class,
				() -> new FilterRegistrationBean<>(new ForwardedHeaderFilter())));
		assertThat(output).contains("because of the ForwardedHeaderFilter of the bean 'registration'");
	}

	@ParameterizedTest
	@ValueSource(strings = { "server.forward-headers-strategy=none", "spring.main.cloud-platform=kubernetes" })
	void nothingIsLoggedWhenNoClientIsTrusted(String property, CapturedOutput output) {
		start(this.runner.withPropertyValues(property));
		assertThat(output).doesNotContain("Any client can choose");
	}

	@Test
	void nothingIsLoggedWhenProxiesAreTrusted(CapturedOutput output) {
		start(this.runner.withBean(ForwardedHeaderFilter.class)
			.withPropertyValues("server.forward-headers-strategy=framework",
					"ratelimit.ip.trusted-proxies=10.0.0.0/8"));
		assertThat(output).doesNotContain("Any client can choose");
	}

	private static void start(WebApplicationContextRunner runner) {
		runner.run((context) -> assertThat(context).hasNotFailed());
	}

}
