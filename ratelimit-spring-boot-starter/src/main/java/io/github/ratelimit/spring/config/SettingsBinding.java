package io.github.ratelimit.spring.config;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.BindResult;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.PropertySourcesPlaceholdersResolver;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.util.PlaceholderResolutionException;
import org.springframework.util.PropertyPlaceholderHelper;
import org.springframework.util.SystemPropertyUtils;

/**
 * Refuses settings that would have no effect or another one than their source says,
 * without a word of Spring Boot, when they are bound: at the start and in a refresh.
 */
final class SettingsBinding implements ConfigurationPropertiesBindHandlerAdvisor {

	static final ConfigurationPropertyName OWN = ConfigurationPropertyName.of("ratelimit");

	/** As Spring Boot's own, but strict. */
	private final PropertySourcesPlaceholdersResolver placeholders;

	private final Set<ConfigurationPropertyName> loggedLists = ConcurrentHashMap.newKeySet();

	SettingsBinding(ConfigurableEnvironment environment) {
		this.placeholders = new PropertySourcesPlaceholdersResolver(environment.getPropertySources(),
				new PropertyPlaceholderHelper(SystemPropertyUtils.PLACEHOLDER_PREFIX,
						SystemPropertyUtils.PLACEHOLDER_SUFFIX, SystemPropertyUtils.VALUE_SEPARATOR,
						SystemPropertyUtils.ESCAPE_CHARACTER, false));
	}

	@Override
	public BindHandler apply(BindHandler handler) {
		return new Handler(handler);
	}

	private final class Handler extends AbstractBindHandler {

		private MapKeys keys = new MapKeys(List.of());

		private EnvironmentSettings settings = new EnvironmentSettings(List.of());

		Handler(BindHandler parent) {
			super(parent);
		}

		@Override
		public <T> @Nullable Bindable<T> onStart(ConfigurationPropertyName name, Bindable<T> target,
				BindContext context) {
			if (name.equals(OWN)) {
				this.keys = new MapKeys(context.getSources());
				this.settings = new EnvironmentSettings(context.getSources());
				context.getSources().forEach(SettingsBinding::requireGroup);
			}
			if (name.equals(OWN) || OWN.isAncestorOf(name)) {
				this.settings.look(name, target.getType().resolve() == List.class);
			}
			return super.onStart(name, target, context);
		}

		@Override
		public @Nullable Object onSuccess(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
				Object result) {
			Object bound = super.onSuccess(name, target, context, result);
			if (OWN.isAncestorOf(name)) {
				requireResolved(name, context.getConfigurationProperty());
				if (bound instanceof List<?> list) {
					return list.isEmpty() ? declared(name, target, context, list)
							: resolved(name, context.getConfigurationProperty(), list);
				}
				return (bound instanceof Map<?, ?> map) ? this.keys.withoutVariables(name, map) : bound;
			}
			return bound;
		}

		/**
		 * Returns the list that a bean declares instead of an empty one: a text that a
		 * template leaves empty does not set it.
		 */
		private Object declared(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
				List<?> empty) {
			for (ConfigurationPropertySource source : context.getSources()) {
				if (DeclaredPolicies.isSource(source)) {
					BindResult<?> declared = new Binder(List.of(source), SettingsBinding.this.placeholders).bind(name,
							target, this);
					return declared.isBound() ? declared.get() : empty;
				}
			}
			return empty;
		}

		@Override
		public @Nullable Object onFailure(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
				Exception error) throws Exception {
			if (OWN.isAncestorOf(name)) {
				requireResolved(name, context.getConfigurationProperty());
			}
			return super.onFailure(name, target, context, error);
		}

		@Override
		public void onFinish(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
				@Nullable Object result) throws Exception {
			super.onFinish(name, target, context, result);
			if (name.equals(OWN)) {
				this.settings.check(SettingsBinding.this.loggedLists);
			}
		}

	}

	/** Spring Boot ignores a text in place of all properties. */
	private static void requireGroup(ConfigurationPropertySource source) {
		ConfigurationProperty property = source.getConfigurationProperty(OWN);
		if (property != null && !EnvironmentSettings.mayBeOfAnother(source)
				&& !property.getValue().toString().isBlank()) {
			throw new HiddenValueException(OWN.toString(),
					HiddenValueException.withoutPassword(property.getValue()).toString(),
					"Must be a group of properties such as { policies: { search: { limits: 10/s } } }.");
		}
	}

	/** Resolves the elements of a list that is one value, which Spring Boot leaves. */
	private List<?> resolved(ConfigurationPropertyName name, @Nullable ConfigurationProperty property, List<?> list) {
		return (property != null && name.equals(property.getName()) && property.getValue() instanceof List<?>)
				? list.stream().map(this.placeholders::resolvePlaceholders).toList() : list;
	}

	/**
	 * Refuses a placeholder that cannot be resolved: Spring Boot would use its text as
	 * the value, and a secret would be known to all readers of the file. Checks only
	 * values in effect, and the property itself, not the last one of a group.
	 */
	private void requireResolved(ConfigurationPropertyName name, @Nullable ConfigurationProperty property) {
		if (property == null || !name.equals(property.getName())) {
			return;
		}
		try {
			if (property.getValue() instanceof List<?> list) {
				list.forEach(this.placeholders::resolvePlaceholders);
			}
			this.placeholders.resolvePlaceholders(property.getValue());
		}
		catch (PlaceholderResolutionException ex) {
			// Its message has the whole value, which may be a secret.
			boolean password = name.getLastElement(Form.UNIFORM).equals("password");
			String rule = password
					? "The placeholder cannot be resolved: set %s. The start needs the password, also if it is in a file."
					: "The placeholder cannot be resolved: set %1$s, or give it a default: ${%1$s:value}.";
			throw new HiddenValueException(name.toString(), "${%s}".formatted(ex.getPlaceholder()),
					rule.formatted(ex.getPlaceholder()), property.getOrigin());
		}
	}

}
