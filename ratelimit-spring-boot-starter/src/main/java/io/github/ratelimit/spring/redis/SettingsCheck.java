package io.github.ratelimit.spring.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.denial.DenialCache;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.PolicyReader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/**
 * Logs settings that have no effect, and one that is missing. Startup does not fail,
 * because beans are often replaced in tests only.
 */
final class SettingsCheck implements SmartInitializingSingleton {

	private static final Logger logger = LoggerFactory.getLogger(SettingsCheck.class);

	private static final String INSTANCES = "ratelimit.instances";

	private static final String ENABLED = "ratelimit.denial-cache.enabled";

	private static final List<String> CONNECTION = Stream
		.of("url", "host", "port", "username", "password", "database", "ssl.enabled", "ssl.bundle", "client-name",
				"sentinel.master", "sentinel.nodes", "sentinel.username", "sentinel.password", "cluster.nodes")
		.map((name) -> "ratelimit.redis." + name)
		.toList();

	private static final List<String> STORE = Stream.concat(CONNECTION.stream(),
			Stream.of("ratelimit.redis.timeout", "ratelimit.redis.connections", "ratelimit.redis.max-waiting",
					"ratelimit.redis.client", "ratelimit.redis.scripting", "ratelimit.key-prefix",
					"ratelimit.identifier-secret"))
		.toList();

	private static final List<String> DENIALS = List.of("ratelimit.denial-cache.max-age",
			"ratelimit.denial-cache.max-size");

	private final Binder binder;

	private final ListableBeanFactory beans;

	private final ConfiguredPolicies policies;

	SettingsCheck(Environment environment, ListableBeanFactory beans, ConfiguredPolicies policies) {
		this.binder = Binder.get(environment);
		this.beans = beans;
		this.policies = policies;
	}

	@Override
	public void afterSingletonsInstantiated() {
		warnings().forEach(logger::warn);
	}

	List<String> warnings() {
		List<String> warnings = new ArrayList<>();
		boolean ownLimiter = !has(RedisCheck.class);
		if (ownLimiter) {
			addIgnored(warnings, STORE, "the application declares a RateLimiter bean");
		}
		else if (!has(RedisServer.class)) {
			addIgnored(warnings, CONNECTION, ApplicationClient.PROPERTY + " names a client of the application");
		}
		addIgnoredDenials(warnings, ownLimiter);
		boolean ownInstances = !this.beans.containsBean("rateLimitInstanceCount");
		if (ownInstances) {
			addIgnored(warnings, List.of(INSTANCES), "the application declares an InstanceCount bean");
		}
		List<String> local = this.policies.names(OnStoreFailure.LOCAL)
			.stream()
			.filter((policy) -> isSet(PolicyReader.property(policy, ".on-store-failure")))
			.toList();
		if (!ownInstances && !local.isEmpty() && !isSet(INSTANCES)) {
			warnings.add(
					"%s is not set: while the store fails, each instance grants the whole quota of the policies %s. Set it to the number of instances, even if it is 1"
						.formatted(INSTANCES, local));
		}
		return warnings;
	}

	private void addIgnoredDenials(List<String> warnings, boolean ownLimiter) {
		List<String> all = Stream.concat(Stream.of(ENABLED), DENIALS.stream()).toList();
		if (has(DenialCache.class)) {
			if (!this.beans.containsBean("rateLimitDenialCache")) {
				addIgnored(warnings, all, "the application declares a DenialCache bean");
			}
		}
		else if (!this.binder.bind(ENABLED, Boolean.class).orElse(true)) {
			addIgnored(warnings, DENIALS, ENABLED + " is false");
		}
		else {
			addIgnored(warnings, all,
					ownLimiter ? "the application declares a RateLimiter bean" : "ratelimit.redis.scripting is false");
		}
	}

	private void addIgnored(List<String> warnings, List<String> properties, String reason) {
		List<String> ignored = properties.stream().filter(this::isSet).toList();
		if (!ignored.isEmpty()) {
			warnings.add("%s: ignored, because %s".formatted(String.join(", ", ignored), reason));
		}
	}

	/** Returns whether a property or one of its elements is set and not empty. */
	private boolean isSet(String property) {
		return !this.binder.bind(property, Bindable.listOf(String.class)).orElse(List.of()).isEmpty();
	}

	private boolean has(Class<?> type) {
		return this.beans.getBeanNamesForType(type, true, false).length > 0;
	}

}
