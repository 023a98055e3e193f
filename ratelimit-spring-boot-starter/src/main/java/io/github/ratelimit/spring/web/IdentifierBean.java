package io.github.ratelimit.spring.web;

import java.util.LinkedHashMap;
import java.util.Map;

import io.github.ratelimit.spring.IdentifierResolver;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.util.function.SingletonSupplier;

/**
 * A bean that is an identifier, created when it is first asked: it may need other beans
 * with limited methods, which in turn need the identifiers.
 */
final class IdentifierBean implements IdentifierResolver {

	private final SingletonSupplier<IdentifierResolver> bean;

	private IdentifierBean(ListableBeanFactory beans, String name) {
		this.bean = SingletonSupplier.of(() -> beans.getBean(name, IdentifierResolver.class));
	}

	/** Returns all such beans by their names. */
	static Map<String, IdentifierResolver> all(ListableBeanFactory beans) {
		Map<String, IdentifierResolver> all = new LinkedHashMap<>();
		for (String name : beans.getBeanNamesForType(IdentifierResolver.class, true, false)) {
			if (!ScopedProxyUtils.isScopedTarget(name)) {
				all.put(name, new IdentifierBean(beans, name));
			}
		}
		return all;
	}

	@Override
	public @Nullable String resolve(HttpServletRequest request) {
		return this.bean.obtain().resolve(request);
	}

	@Override
	public boolean needsUser() {
		return this.bean.obtain().needsUser();
	}

}
