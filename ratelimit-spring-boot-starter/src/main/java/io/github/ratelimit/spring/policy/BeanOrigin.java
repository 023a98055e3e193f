package io.github.ratelimit.spring.policy;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.origin.Origin;

/**
 * The bean that declares a policy, as the origin of the policy's properties.
 *
 * @param bean the name of the bean
 * @param resource where the bean is defined; {@code null} if unknown
 */
record BeanOrigin(String bean, @Nullable String resource) implements Origin {

	@Override
	public String toString() {
		return (this.resource != null) ? "bean '%s' defined in %s".formatted(this.bean, this.resource)
				: "bean '%s'".formatted(this.bean);
	}

}
