package io.github.ratelimit.spring.config;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import com.github.benmanes.caffeine.cache.Caffeine;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.spring.config.PolicySettings.PenaltySettings;
import io.github.ratelimit.spring.config.PolicySettings.PlanSettings;
import io.github.ratelimit.spring.config.PolicySettings.RouteSettings;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.util.ReflectionUtils;

/**
 * Hints for native images of settings, and of libraries that several packages use: the
 * error messages of the IP library, and the classes that Caffeine generates and looks up
 * by the settings of a cache.
 */
class RateLimitRuntimeHints implements RuntimeHintsRegistrar {

	/** Their options are read by name. */
	private static final List<Class<?>> SETTINGS = List.of(RateLimitProperties.class, PolicySettings.class,
			PlanSettings.class, RouteSettings.class, PenaltySettings.class);

	private static final Duration EXPIRY = Duration.ofSeconds(1);

	private static final List<UnaryOperator<Caffeine<Object, Object>>> BOUNDS = List.of(UnaryOperator.identity(),
			(cache) -> cache.maximumSize(1));

	private static final List<UnaryOperator<Caffeine<Object, Object>>> EXPIRIES = List.of(UnaryOperator.identity(),
			(cache) -> cache.expireAfterWrite(EXPIRY), (cache) -> cache.expireAfterAccess(EXPIRY));

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.resources().registerResourceBundle("inet.ipaddr.IPAddressResources");
		Stream.concat(SETTINGS.stream(), Algorithms.all().stream().map(Object::getClass))
			.forEach((type) -> hints.reflection().registerType(type, MemberCategory.INVOKE_PUBLIC_METHODS));
		BOUNDS.forEach((bound) -> EXPIRIES.forEach(
				(expiry) -> registerCache(hints, expiry.apply(bound.apply(Caffeine.newBuilder())).build().asMap())));
	}

	/**
	 * Caffeine itself has no hints, and those of the GraalVM metadata repository are not
	 * complete. The names of its classes are not known, so that a cache of each kind is
	 * looked at: its class, and the classes of what it consists of.
	 */
	private static void registerCache(RuntimeHints hints, Object cache) {
		Package caffeine = cache.getClass().getPackage();
		hints.reflection().registerType(cache.getClass(), MemberCategory.ACCESS_DECLARED_FIELDS);
		ReflectionUtils.doWithFields(cache.getClass(), (field) -> {
			field.setAccessible(true);
			Object part = field.get(cache);
			if (part != null && part.getClass().getPackage().equals(caffeine)) {
				hints.reflection().registerType(part.getClass(), MemberCategory.INVOKE_DECLARED_CONSTRUCTORS);
			}
		}, (field) -> isPart(field, caffeine));
	}

	private static boolean isPart(Field field, Package caffeine) {
		return !Modifier.isStatic(field.getModifiers()) && caffeine.equals(field.getType().getPackage());
	}

}
