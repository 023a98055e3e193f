package io.github.ratelimit.spring.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;
import org.springframework.core.annotation.AliasFor;

/**
 * Limits how often a method is called. On a type, limits the calls of all its methods
 * together, but private ones and those with an annotation of their own.
 * <p>
 * Names a policy from the configuration, or has limits written in place. A policy written
 * in place is named after its class and method ({@code SearchController.search}), or
 * after its class alone.
 * <p>
 * A denied call throws {@link io.github.ratelimit.spring.RateLimitExceededException
 * RateLimitExceededException}, and the method is not called.
 * <p>
 * Calls are seen where they come from another object; a method that calls another of the
 * same object is not. In a web application, calls outside of a request count for
 * everybody together.
 *
 * @since 0.1
 */
@Target({ ElementType.METHOD, ElementType.TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@Reflective
public @interface RateLimited {

	/**
	 * Name of a policy from {@code ratelimit.policies}. Same as {@link #policy()}.
	 * @return the name; empty if there are {@link #limits()}
	 */
	@AliasFor("policy")
	String value() default "";

	/**
	 * Name of a policy from {@code ratelimit.policies}. Same as {@link #value()}.
	 * @return the name; empty if there are {@link #limits()}
	 */
	@AliasFor("value")
	String policy() default "";

	/**
	 * Limits written in place, such as <code>{"1/s", "20/m"}</code>; all of them hold at
	 * once.
	 * @return the limits; empty if a {@link #policy()} is named
	 */
	String[] limits() default {};

	/**
	 * Algorithm of the limits written in place, such as {@code fixed-window}.
	 * @return the name; empty for the default, {@code sliding-log}
	 */
	String algorithm() default "";

	/**
	 * What a call uses of each quota.
	 * @return 0 or more, and no more than the smallest quota
	 */
	long cost() default 1;

	/**
	 * By what callers are identified, such as {@code ip}, {@code user},
	 * {@code header:X-User} or {@code ip+user}; each has a count of its own.
	 * @return the identifiers; empty for those of the policy, or
	 * {@code ratelimit.default-identifiers} for limits written in place
	 */
	String[] identifiers() default {};

}
