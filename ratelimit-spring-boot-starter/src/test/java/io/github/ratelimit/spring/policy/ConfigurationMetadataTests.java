package io.github.ratelimit.spring.policy;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

/**
 * What editors know of the properties.
 */
class ConfigurationMetadataTests {

	private final Map<String, JsonNode> properties = new TreeMap<>();

	@BeforeEach
	void read() throws IOException {
		for (URL url : Collections
			.list(getClass().getClassLoader().getResources("META-INF/spring-configuration-metadata.json"))) {
			try (InputStream input = url.openStream()) {
				for (JsonNode property : JsonMapper.shared().readTree(input).path("properties")) {
					String name = property.path("name").stringValue();
					if (name.startsWith("ratelimit.") && !property.has("deprecation")) {
						this.properties.put(name, property);
					}
				}
			}
		}
	}

	@Test
	void everyPropertyIsListed() {
		assertThat(this.properties).containsOnlyKeys("ratelimit.allow", "ratelimit.defaults.algorithm",
				"ratelimit.defaults.count-denied", "ratelimit.defaults.identifiers",
				"ratelimit.defaults.missing-identifier", "ratelimit.defaults.mode",
				"ratelimit.defaults.on-store-failure", "ratelimit.exclude", "ratelimit.rejection.status",
				"ratelimit.rejection.type", "ratelimit.denial-cache.enabled", "ratelimit.denial-cache.max-age",
				"ratelimit.denial-cache.max-size", "ratelimit.deny", "ratelimit.enabled",
				"ratelimit.filter.after-login-order", "ratelimit.filter.before-login-order", "ratelimit.headers.styles",
				"ratelimit.health.down-when-failing", "ratelimit.identifiers", "ratelimit.instances",
				"ratelimit.ip.forwarded-header", "ratelimit.ip.ipv6-prefix", "ratelimit.ip.trusted-proxies",
				"ratelimit.key-prefix", "ratelimit.method.order", "ratelimit.most-denied.enabled", "ratelimit.plan",
				"ratelimit.plan-cache-ttl", "ratelimit.policies", "ratelimit.redis.client",
				"ratelimit.redis.client-name", "ratelimit.redis.cluster.nodes", "ratelimit.redis.database",
				"ratelimit.redis.host", "ratelimit.identifier-secret", "ratelimit.redis.connections",
				"ratelimit.redis.max-waiting", "ratelimit.redis.password", "ratelimit.redis.port",
				"ratelimit.redis.scripting", "ratelimit.redis.sentinel.master", "ratelimit.redis.sentinel.nodes",
				"ratelimit.redis.sentinel.password", "ratelimit.redis.sentinel.username", "ratelimit.redis.ssl.bundle",
				"ratelimit.redis.ssl.enabled", "ratelimit.redis.timeout", "ratelimit.redis.url",
				"ratelimit.redis.username");
	}

	@Test
	void oldNameIsDeprecated() throws IOException {
		try (InputStream input = getClass()
			.getResourceAsStream("/META-INF/additional-spring-configuration-metadata.json")) {
			JsonNode old = JsonMapper.shared().readTree(input).path("properties").path(0);
			assertThat(old.path("name").stringValue()).isEqualTo("ratelimit.default-identifiers");
			assertThat(old.path("deprecation").path("level").stringValue()).isEqualTo("error");
			assertThat(this.properties).containsKey(old.path("deprecation").path("replacement").stringValue());
		}
	}

	@Test
	void everyPropertyIsDescribed() {
		assertThat(this.properties).isNotEmpty().allSatisfy((name, property) -> {
			assertThat(property.path("description").asString("")).isNotBlank();
			assertThat(property.path("type").asString("")).isNotBlank();
		});
	}

	@Test
	void defaultsAreThoseOfTheProperties() {
		Map<String, String> defaults = new TreeMap<>();
		this.properties.forEach((name, property) -> {
			if (property.has("defaultValue")) {
				defaults.put(name, property.path("defaultValue").toString());
			}
		});
		assertThat(defaults).containsOnly(entry("ratelimit.defaults.algorithm", "\"sliding-window\""),
				entry("ratelimit.defaults.count-denied", "false"), entry("ratelimit.defaults.identifiers", "\"ip\""),
				entry("ratelimit.defaults.missing-identifier", "\"ip\""),
				entry("ratelimit.defaults.mode", "\"enforce\""),
				entry("ratelimit.defaults.on-store-failure", "\"local\""), entry("ratelimit.rejection.status", "429"),
				entry("ratelimit.denial-cache.enabled", "true"), entry("ratelimit.denial-cache.max-age", "\"1s\""),
				entry("ratelimit.denial-cache.max-size", "10000"), entry("ratelimit.enabled", "true"),
				entry("ratelimit.health.down-when-failing", "false"), entry("ratelimit.instances", "1"),
				entry("ratelimit.ip.ipv6-prefix", "64"), entry("ratelimit.headers.styles", "\"[draft, x-rate-limit]\""),
				entry("ratelimit.method.order", "0"), entry("ratelimit.most-denied.enabled", "true"),
				entry("ratelimit.plan-cache-ttl", "\"1m\""), entry("ratelimit.redis.database", "0"),
				entry("ratelimit.redis.connections", "2"), entry("ratelimit.redis.max-waiting", "8192"),
				entry("ratelimit.redis.port", "6379"), entry("ratelimit.redis.scripting", "true"),
				entry("ratelimit.redis.timeout", "\"100ms\""));
	}

}
