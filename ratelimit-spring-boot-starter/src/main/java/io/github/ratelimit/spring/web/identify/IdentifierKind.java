package io.github.ratelimit.spring.web.identify;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.IdentifierResolver;
import io.github.ratelimit.spring.decide.LoggedOnce;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * How an identifier, or a part of one, is found. Whether it needs the user is asked late,
 * because the bean that resolves it may not exist yet.
 *
 * @param user returns whether it is known only after the login
 */
record IdentifierKind(BooleanSupplier user, boolean needsPattern, Finder finder) {

	static final IdentifierKind GLOBAL = new IdentifierKind(() -> false, false,
			(request, pattern, values) -> Identifier.GLOBAL);

	static IdentifierKind of(String type, Function<HttpServletRequest, @Nullable String> value) {
		return of(type, false, value);
	}

	static IdentifierKind of(String type, boolean user, Function<HttpServletRequest, @Nullable String> value) {
		return new IdentifierKind(() -> user, false,
				(request, pattern, values) -> identifier(type, value.apply(request)));
	}

	/** Creates that of the path patterns. */
	static IdentifierKind ofPath(String type) {
		return new IdentifierKind(() -> false, true, (request, pattern, values) -> identifier(type, pattern));
	}

	/** Creates that of an expression over the arguments of a method. */
	static IdentifierKind ofArguments(String expression) {
		return new IdentifierKind(() -> false, false,
				(request, pattern, values) -> identifier(expression, values.get(expression)));
	}

	/** Creates that of an expression. */
	static IdentifierKind own(String name, RequestExpression expression) {
		return new IdentifierKind(expression::needsUser, false, logged(name, expression::text));
	}

	/** Creates that of a bean, which may be one of a request. */
	static IdentifierKind own(String name, Supplier<IdentifierResolver> resolver) {
		return new IdentifierKind(() -> resolver.get().needsUser(), false,
				logged(name, (request) -> resolver.get().resolve(request)));
	}

	/**
	 * If it fails, the identifier is missing. This is logged once, without anything that
	 * a client may have sent.
	 */
	private static Finder logged(String name, Function<HttpServletRequest, @Nullable String> value) {
		LoggedOnce warnings = new LoggedOnce(IdentifierKind.class);
		return (request, pattern, values) -> {
			try {
				return identifier(name, value.apply(request));
			}
			catch (RuntimeException ex) {
				warnings.warn(name,
						"The identifier {} counts as missing, because its resolver failed: {}. This is logged once",
						name, RequestExpression.reason(ex));
				return null;
			}
		};
	}

	/** Creates that of several parts, which are missing if one of them is. */
	static IdentifierKind combined(List<IdentifierKind> parts) {
		if (parts.size() == 1) {
			return parts.get(0);
		}
		return new IdentifierKind(() -> parts.stream().anyMatch(IdentifierKind::needsUser),
				parts.stream().anyMatch(IdentifierKind::needsPattern), (request, pattern, values) -> {
					List<Identifier> found = new ArrayList<>(parts.size());
					for (IdentifierKind part : parts) {
						Identifier identifier = part.finder.find(request, pattern, values);
						if (identifier == null) {
							return null;
						}
						found.add(identifier);
					}
					return Identifier.combine(found);
				});
	}

	boolean needsUser() {
		return this.user.getAsBoolean();
	}

	private static @Nullable Identifier identifier(String type, @Nullable String value) {
		return (value != null && !value.isBlank()) ? new Identifier(type, value) : null;
	}

	@FunctionalInterface
	interface Finder {

		/**
		 * Finds an identifier.
		 * @param pattern the path pattern of the request; {@code null} if there is none
		 * @param values the values of expressions over the arguments of a method
		 * @return the identifier; {@code null} if the request lacks it
		 */
		@Nullable Identifier find(HttpServletRequest request, @Nullable String pattern, Map<String, String> values);

	}

}
