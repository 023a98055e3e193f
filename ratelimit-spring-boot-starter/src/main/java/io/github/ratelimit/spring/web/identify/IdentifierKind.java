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
 * How an identifier, or a part of one, is found.
 *
 * @param user returns whether it is known only after the login; asked late, because the
 * bean that resolves it may not exist yet
 */
record IdentifierKind(BooleanSupplier user, boolean needsPattern, Finder finder) {

	/** Creates that of the requests themselves. */
	static IdentifierKind of(String type, boolean user, Function<HttpServletRequest, @Nullable String> value) {
		return new IdentifierKind(() -> user, false,
				(request, pattern, values) -> identifier(type, value.apply(request)));
	}

	/** Creates that of an expression. */
	static IdentifierKind own(String name, RequestExpression expression) {
		return own(name, expression::needsUser, expression::text);
	}

	/** Creates that of a bean, which may be one of a request. */
	static IdentifierKind own(String name, Supplier<IdentifierResolver> resolver) {
		return own(name, () -> resolver.get().needsUser(), (request) -> resolver.get().resolve(request));
	}

	/**
	 * If it fails, the identifier is missing. The log says so once, without its value.
	 */
	private static IdentifierKind own(String name, BooleanSupplier user,
			Function<HttpServletRequest, @Nullable String> value) {
		LoggedOnce warnings = new LoggedOnce(IdentifierKind.class);
		return new IdentifierKind(user, false, (request, pattern, values) -> {
			try {
				return identifier(name, value.apply(request));
			}
			catch (RuntimeException ex) {
				warnings.warn(name,
						"The identifier {} counts as missing, because its resolver failed: {}. This is logged once",
						name, RequestExpression.reason(ex));
				return null;
			}
		});
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

	static @Nullable Identifier identifier(String type, @Nullable String value) {
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
