package io.github.ratelimit.spring.test;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.TestContextAnnotationUtils;

/**
 * Reads {@link AutoConfigureRateLimit}.
 */
class RateLimitContextCustomizerFactory implements ContextCustomizerFactory {

	@Override
	public @Nullable ContextCustomizer createContextCustomizer(Class<?> testClass,
			List<ContextConfigurationAttributes> attributes) {
		AutoConfigureRateLimit annotation = TestContextAnnotationUtils.findMergedAnnotation(testClass,
				AutoConfigureRateLimit.class);
		return (annotation != null) ? new RateLimitContextCustomizer(annotation.value()) : null;
	}

}
