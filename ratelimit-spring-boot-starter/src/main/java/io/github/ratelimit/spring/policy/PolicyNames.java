package io.github.ratelimit.spring.policy;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
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
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.origin.Origin;
import org.springframework.boot.origin.PropertySourceOrigin;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;

/**
 * Ignores policy names from environment variables if a file has the same name with
 * hyphens, underscores or capital letters: {@code RATELIMIT_POLICIES_MYAPI_LIMITS}
 * belongs to the policy {@code my-api} and does not define a second one. All other
 * sources must have one spelling.
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
		List<Spelling> spellings = spellings(sources);
		Set<ConfigurationPropertyName> written = new HashSet<>();
		Set<String> texts = new HashSet<>();
		spellings.stream().filter((spelling) -> !spelling.isVariable()).forEach((spelling) -> {
			written.add(spelling.policy());
			texts.add(spelling.text());
		});
		Map<Object, Object> left = new LinkedHashMap<>(policies);
		spellings.stream()
			.filter((spelling) -> written.contains(spelling.policy()) && !texts.contains(spelling.text()))
			.forEach((spelling) -> left.remove(spelling.text()));
		return left;
	}

	/**
	 * Refuses names that are the same to Spring Boot, such as my-api and myApi: each
	 * would get the properties of both.
	 * @throws KnownOriginException if there are such names
	 */
	static void requireDistinct(Environment environment) {
		Map<ConfigurationPropertyName, Spelling> first = new HashMap<>();
		spellings(ConfigurationPropertySources.get(environment)).stream()
			.sorted(Comparator.comparing(Spelling::isVariable))
			.forEach((spelling) -> {
				Spelling other = first.putIfAbsent(spelling.policy(), spelling);
				if (other != null && !other.text().equals(spelling.text())
						&& spelling.isVariable() == other.isVariable()) {
					throw new KnownOriginException(PolicyReader.property(spelling.text(), ""), spelling.text(),
							"Is the same name to Spring Boot as '%2$s' (originating from '%3$s'), because it ignores capital letters, hyphens and underscores. If they are one policy, write '%1$s' in both places; if not, rename one of them."
								.formatted(other.text(), PolicyReader.property(other.text(), ""), other.origin()),
							spelling.origin());
				}
			});
	}

	/**
	 * Returns the names of policies, those of the weakest source first: an application's
	 * file is before the profile or the argument that overrides it.
	 */
	private static List<Spelling> spellings(Iterable<ConfigurationPropertySource> sources) {
		List<Spelling> spellings = new ArrayList<>();
		for (ConfigurationPropertySource source : sources) {
			if (source instanceof IterableConfigurationPropertySource names) {
				spellings.addAll(0,
						names.stream()
							.filter(POLICIES::isAncestorOf)
							.map((property) -> new Spelling(property, source))
							.toList());
			}
		}
		return spellings;
	}

	/**
	 * A property of a policy as its source writes it.
	 */
	private record Spelling(ConfigurationPropertyName property, ConfigurationPropertySource source) {

		/** Returns the name of the policy, equal for all spellings. */
		ConfigurationPropertyName policy() {
			return this.property.chop(POLICIES.getNumberOfElements() + 1);
		}

		String text() {
			return this.property.getElement(POLICIES.getNumberOfElements(), Form.ORIGINAL);
		}

		boolean isVariable() {
			return EnvironmentSettings.isVariable(this.source);
		}

		/**
		 * Returns the origin of this spelling. The configuration property has that of the
		 * first of all spellings.
		 */
		@Nullable Origin origin() {
			StringBuilder name = new StringBuilder();
			for (int i = 0; i < this.property.getNumberOfElements(); i++) {
				String element = this.property.getElement(i, Form.ORIGINAL);
				boolean indexed = this.property.chop(i + 1).isLastElementIndexed();
				name.append(indexed ? "[" + element + "]" : "." + element);
			}
			return (this.source.getUnderlyingSource() instanceof PropertySource<?> properties)
					? PropertySourceOrigin.get(properties, name.substring(1)) : null;
		}

	}

}
