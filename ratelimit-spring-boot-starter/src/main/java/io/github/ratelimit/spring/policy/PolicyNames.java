package io.github.ratelimit.spring.policy;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;

/**
 * Ignores policy names from environment variables if a file has the same name with
 * hyphens or capital letters: {@code RATELIMIT_POLICIES_MYAPI_LIMITS} belongs to the
 * policy {@code my-api} and does not define a second one.
 */
final class PolicyNames implements ConfigurationPropertiesBindHandlerAdvisor {

	private static final ConfigurationPropertyName POLICIES = ConfigurationPropertyName.of("ratelimit.policies");

	@Override
	public BindHandler apply(BindHandler handler) {
		return new AbstractBindHandler(handler) {

			@Override
			public @Nullable Object onSuccess(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
					Object result) {
				Object bound = super.onSuccess(name, target, context, result);
				return (POLICIES.equals(name) && bound instanceof Map<?, ?> policies)
						? withoutVariables(policies, context.getSources()) : bound;
			}

		};
	}

	private static Map<Object, Object> withoutVariables(Map<?, ?> policies,
			Iterable<ConfigurationPropertySource> sources) {
		Set<String> written = new HashSet<>();
		for (ConfigurationPropertySource source : sources) {
			if (!EnvironmentSettings.isVariable(source)
					&& source instanceof IterableConfigurationPropertySource names) {
				names.stream()
					.filter(POLICIES::isAncestorOf)
					.forEach((name) -> written.add(name.getElement(POLICIES.getNumberOfElements(), Form.ORIGINAL)));
			}
		}
		Set<String> plain = new HashSet<>();
		written.forEach((name) -> plain.add(plain(name)));
		Map<Object, Object> left = new LinkedHashMap<>(policies);
		left.keySet().removeIf((name) -> !written.contains(name.toString()) && plain.contains(plain(name.toString())));
		return left;
	}

	/** Returns the name as written in a variable. */
	private static String plain(String name) {
		return name.replace("-", "").toLowerCase(Locale.ROOT);
	}

}
