package io.github.ratelimit.spring;

import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.test.context.assertj.ApplicationContextAssertProvider;

import static org.assertj.core.api.Assertions.assertThat;

/** Why an application did not start. */
public final class StartFailure {

	private StartFailure() {
	}

	/** Asserts that a property stopped the start. The value is compared as text. */
	public static void assertRefused(ApplicationContextAssertProvider<?> context, String property,
			@Nullable Object value, String reason) {
		assertThat(refusal(context)).satisfies((ex) -> {
			assertThat(ex.getName()).isEqualTo(property);
			assertThat(Objects.toString(ex.getValue(), null)).isEqualTo(Objects.toString(value, null));
			assertThat(ex.getReason()).isEqualTo(reason);
		});
	}

	/** Asserts that a property stopped the start, and what part of the reason is. */
	public static void assertRefused(ApplicationContextAssertProvider<?> context, String property, String reason) {
		assertThat(refusal(context)).satisfies((ex) -> {
			assertThat(ex.getName()).isEqualTo(property);
			assertThat(ex.getReason()).contains(reason);
		});
	}

	/** Returns what tells of the property that stopped the start. */
	public static InvalidConfigurationPropertyValueException refusal(ApplicationContextAssertProvider<?> context) {
		return cause(context, InvalidConfigurationPropertyValueException.class);
	}

	/** Returns the first cause of a type. */
	public static <T extends Throwable> T cause(ApplicationContextAssertProvider<?> context, Class<T> type) {
		Throwable cause = context.getStartupFailure();
		while (cause != null && !type.isInstance(cause)) {
			cause = cause.getCause();
		}
		assertThat(cause).as(() -> String.valueOf(context.getStartupFailure())).isNotNull();
		return type.cast(cause);
	}

}
