package io.github.ratelimit.spring.web;

import java.util.List;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.cloud.CloudPlatform;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * A setting by which the server replaces the address of a connection by that of a header,
 * before any filter runs.
 *
 * @param property the property
 * @param value its value
 * @param platform the cloud platform for which Spring Boot sets it; {@code null} if the
 * application does
 */
record ServerForwarding(String property, String value, @Nullable CloudPlatform platform) {

	static final String STRATEGY = "server.forward-headers-strategy";

	/** Each of them enables the valve of Tomcat, whatever the strategy is. */
	private static final List<String> OF_TOMCAT = List.of("server.tomcat.remoteip.remote-ip-header",
			"server.tomcat.remoteip.protocol-header");

	/**
	 * Finds the setting of an application; empty if its server replaces no addresses.
	 */
	static Optional<ServerForwarding> find(Environment environment) {
		String strategy = text(STRATEGY, environment);
		if (strategy != null && strategy.equalsIgnoreCase("native")) {
			return Optional.of(new ServerForwarding(STRATEGY, strategy, null));
		}
		CloudPlatform platform = CloudPlatform.getActive(environment);
		if (strategy == null && platform != null && platform.isUsingForwardHeaders()) {
			return Optional.of(new ServerForwarding(STRATEGY, "native", platform));
		}
		return OF_TOMCAT.stream()
			.filter((property) -> StringUtils.hasText(text(property, environment)))
			.map((property) -> new ServerForwarding(property, String.valueOf(text(property, environment)), null))
			.findFirst();
	}

	/** Returns whether a filter of Spring reads forwarded headers. */
	static boolean isFramework(Environment environment) {
		return "framework".equalsIgnoreCase(text(STRATEGY, environment));
	}

	static @Nullable String text(String property, Environment environment) {
		return Binder.get(environment).bind(property, String.class).orElse(null);
	}

	/** Rejects the setting, because the limiter must read the header itself. */
	InvalidConfigurationPropertyValueException beside(String proxies) {
		String remedy = this.property.equals(STRATEGY)
				? "set %s to none, or to framework if links are made of these headers".formatted(STRATEGY)
				: "remove it, and set %s to none, or to framework if links are made of these headers"
					.formatted(STRATEGY);
		return new InvalidConfigurationPropertyValueException(this.property, this.value,
				"%sThe server then replaces addresses by what a header says, before %s can be looked at, so that clients could choose by which address they are counted: %s."
					.formatted((this.platform != null)
							? "Spring Boot sets it by itself on the cloud platform %s. ".formatted(this.platform) : "",
							proxies, remedy));
	}

	@Override
	public String toString() {
		return "%s=%s%s".formatted(this.property, this.value, (this.platform != null)
				? ", which Spring Boot sets by itself on the cloud platform " + this.platform : "");
	}

}
