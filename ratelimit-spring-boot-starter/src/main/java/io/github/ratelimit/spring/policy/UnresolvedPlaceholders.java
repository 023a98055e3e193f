package io.github.ratelimit.spring.policy;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.PropertySourcesPlaceholdersResolver;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.util.PlaceholderResolutionException;
import org.springframework.util.PropertyPlaceholderHelper;
import org.springframework.util.SystemPropertyUtils;

/**
 * Refuses properties with a placeholder that cannot be resolved. Spring Boot would use
 * its text as the value, and a secret would be known to all readers of the file. Checks
 * only values in effect, because another source may override the placeholder.
 */
final class UnresolvedPlaceholders implements ConfigurationPropertiesBindHandlerAdvisor {

	private static final ConfigurationPropertyName OWN = ConfigurationPropertyName.of("ratelimit");

	private final PropertySourcesPlaceholdersResolver resolver;

	/**
	 * Creates a check.
	 * @param environment has the values of placeholders
	 */
	UnresolvedPlaceholders(Environment environment) {
		// As Spring Boot's own, but strict.
		this.resolver = new PropertySourcesPlaceholdersResolver(
				((ConfigurableEnvironment) environment).getPropertySources(),
				new PropertyPlaceholderHelper(SystemPropertyUtils.PLACEHOLDER_PREFIX,
						SystemPropertyUtils.PLACEHOLDER_SUFFIX, SystemPropertyUtils.VALUE_SEPARATOR,
						SystemPropertyUtils.ESCAPE_CHARACTER, false));
	}

	@Override
	public BindHandler apply(BindHandler handler) {
		return new AbstractBindHandler(handler) {

			@Override
			public @Nullable Object onSuccess(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
					Object result) {
				requireResolved(name, context.getConfigurationProperty());
				return super.onSuccess(name, target, context, result);
			}

			@Override
			public @Nullable Object onFailure(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
					Exception error) throws Exception {
				requireResolved(name, context.getConfigurationProperty());
				return super.onFailure(name, target, context, error);
			}

		};
	}

	/** Looks at the property itself, not at the last one of a group. */
	private void requireResolved(ConfigurationPropertyName name, @Nullable ConfigurationProperty property) {
		if (property == null || !OWN.isAncestorOf(name) || !name.equals(property.getName())) {
			return;
		}
		try {
			this.resolver.resolvePlaceholders(property.getValue());
		}
		catch (PlaceholderResolutionException ex) {
			// Its message has the whole value, which may be a secret.
			String placeholder = ex.getPlaceholder();
			throw new KnownOriginException(name.toString(), "${%s}".formatted(placeholder),
					"The placeholder cannot be resolved: set %1$s, or give it a default: ${%1$s:value}."
						.formatted(placeholder),
					property.getOrigin());
		}
	}

}
