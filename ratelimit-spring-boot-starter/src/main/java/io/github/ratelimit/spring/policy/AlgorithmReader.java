package io.github.ratelimit.spring.policy;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.algorithm.SlidingWindowCounter;
import io.github.ratelimit.algorithm.TokenBucket;
import io.github.ratelimit.spring.policy.RateLimitProperties.PolicyProperties;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * Creates the algorithm of a policy from its properties, with the options of that
 * algorithm, and the other way round. An option of another algorithm is refused, because
 * it would have no effect. Custom algorithms take their options where they are created,
 * not here.
 */
final class AlgorithmReader {

	/** The options of each algorithm, with the properties that they are read from. */
	private static final Map<String, Map<String, Function<PolicyProperties, @Nullable Object>>> OPTIONS = options();

	private AlgorithmReader() {
	}

	private static Map<String, Map<String, Function<PolicyProperties, @Nullable Object>>> options() {
		Map<String, Map<String, Function<PolicyProperties, @Nullable Object>>> options = new LinkedHashMap<>();
		options.put(new FixedWindow().name(),
				Map.of("retain", PolicyProperties::retain, "zone", PolicyProperties::zone));
		options.put(new SlidingWindow().name(), Map.of("precision", PolicyProperties::precision));
		options.put(new SlidingWindowCounter().name(),
				Map.of("previous-weight", PolicyProperties::previousWeight, "rounding", PolicyProperties::rounding));
		options.put(new TokenBucket().name(), Map.of("burst", PolicyProperties::burst));
		return options;
	}

	/**
	 * Creates an algorithm.
	 * @param prefix prefix of the policy's properties
	 * @param properties the properties
	 * @param limits the limits of the policy, which the options must suit
	 * @param algorithms the algorithms by name
	 * @param standard the algorithm to use if the properties name none
	 */
	static Algorithm read(String prefix, PolicyProperties properties, List<Limit> limits, NamedAlgorithms algorithms,
			Algorithm standard) {
		String given = properties.algorithm();
		Algorithm algorithm = (given != null)
				? PolicyReader.read(prefix + ".algorithm", given, () -> algorithms.get(given)) : standard;
		String name = (given != null) ? Algorithms.find(given).map(Algorithm::name).orElse(given) : standard.name();
		Map<String, Object> set = new LinkedHashMap<>();
		OPTIONS.forEach((owner, options) -> options.forEach((option, property) -> {
			Object value = property.apply(properties);
			if (value != null && !owner.equals(name)) {
				throw new InvalidConfigurationPropertyValueException(prefix + "." + option, value,
						"Is an option of %s, but the algorithm of this policy is %s: change the algorithm, or remove the option."
							.formatted(owner, name));
			}
			if (value != null) {
				set.put(option, value);
			}
		}));
		if (set.isEmpty()) {
			return algorithm;
		}
		String property = (set.size() == 1) ? prefix + "." + set.keySet().iterator().next() : prefix;
		Object value = (set.size() == 1) ? set.values().iterator().next() : set;
		return PolicyReader.read(property, value, () -> {
			Algorithm withOptions = withOptions(algorithm, properties);
			withOptions.requireSupported(limits.stream().sorted(Comparator.comparing(Limit::window)).toList());
			return withOptions;
		});
	}

	private static Algorithm withOptions(Algorithm algorithm, PolicyProperties properties) {
		if (algorithm instanceof FixedWindow standard) {
			return new FixedWindow(or(properties.retain(), standard.retain()), or(properties.zone(), standard.zone()));
		}
		if (algorithm instanceof SlidingWindow) {
			return new SlidingWindow(properties.precision());
		}
		if (algorithm instanceof SlidingWindowCounter standard) {
			return new SlidingWindowCounter(or(properties.previousWeight(), standard.previousWeight()),
					or(properties.rounding(), standard.rounding()));
		}
		if (algorithm instanceof TokenBucket) {
			return new TokenBucket(properties.burst());
		}
		return algorithm;
	}

	/**
	 * Returns the properties from which an algorithm of the library can be read, without
	 * options that have the default. It names the options, because native images do not
	 * know the components of records.
	 */
	static Map<String, Object> properties(Algorithm algorithm) {
		Map<String, @Nullable Object> properties = new LinkedHashMap<>();
		properties.put("algorithm", algorithm.name());
		if (algorithm instanceof FixedWindow window) {
			FixedWindow standard = new FixedWindow();
			properties.put("retain", unless(standard.retain(), window.retain()));
			properties.put("zone", unless(standard.zone(), window.zone()));
		}
		else if (algorithm instanceof SlidingWindow window) {
			properties.put("precision", window.precision());
		}
		else if (algorithm instanceof SlidingWindowCounter counter) {
			SlidingWindowCounter standard = new SlidingWindowCounter();
			properties.put("previous-weight", unless(standard.previousWeight(), counter.previousWeight()));
			properties.put("rounding", unless(standard.rounding(), counter.rounding()));
		}
		else if (algorithm instanceof TokenBucket bucket) {
			properties.put("burst", bucket.burst());
		}
		Map<String, Object> set = new LinkedHashMap<>();
		properties.forEach((name, value) -> {
			if (value != null) {
				set.put(name, value);
			}
		});
		return set;
	}

	private static <T> @Nullable T unless(T standard, T value) {
		return value.equals(standard) ? null : value;
	}

	private static <T> T or(@Nullable T value, T standard) {
		return (value != null) ? value : standard;
	}

}
