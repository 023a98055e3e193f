package io.github.ratelimit.spring.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;
import org.springframework.core.annotation.AliasFor;

/**
 * Limits how often a method is called. On a type, limits the calls of all its methods
 * together, but private and static ones, final ones that it inherits, and those with an
 * annotation of their own.
 * <p>
 * Names a policy from the configuration, or has limits written in place. A policy written
 * in place is named after its class and method ({@code SearchController.search}), or
 * after its class alone, unless it has a {@link #name()}.
 * <p>
 * Several annotations of one method or type, composed ones included, are decided
 * together, all or nothing. An annotation that stands on the method of a class replaces
 * those on the methods that it overrides or implements, and one on a method replaces
 * those on its type.
 * <p>
 * A denied call throws {@link io.github.ratelimit.spring.RateLimitExceededException
 * RateLimitExceededException}, and the method is not called. While the store fails, and
 * the policy denies calls then, {@link io.github.ratelimit.StoreException StoreException}
 * is thrown.
 * <p>
 * Every call pays, whatever the path of the web request has paid: a policy that has the
 * path and an annotation on the method counts both.
 * <p>
 * Calls are seen where they come from another object; a method that calls another of the
 * same object is not. Outside of a web request, so also in methods that are
 * {@code @Async}, callers have those identifiers alone that are expressions,
 * {@code global}, and {@code user}, if Spring Security knows one on the thread; a call
 * that has none of its policy's identifiers counts for everybody together.
 * <p>
 * All texts may hold placeholders, such as <code>${search.limit}</code>, which are
 * replaced when the application starts.
 * <p>
 * Expressions are of the Spring Expression Language. They see the arguments of the call,
 * and nothing else: by name, such as {@code #rows}, if the code was compiled with
 * {@code -parameters}, and always by index, as {@code #a0} or {@code #p0}. They cannot
 * name types, beans or constructors, nor assign. A call for which an expression fails, or
 * yields no possible value, throws
 * {@link io.github.ratelimit.spring.RateLimitedExpressionException
 * RateLimitedExpressionException}, and the method is not called.
 *
 * @since 0.1
 */
@Target({ ElementType.METHOD, ElementType.TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@Reflective
@Repeatable(RateLimited.List.class)
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
	 * once. One text may hold several, separated by commas.
	 * @return the limits; empty if a {@link #policy()} is named
	 */
	String[] limits() default {};

	/**
	 * Name of the policy of limits written in place. Of several annotations with limits
	 * on one method or type, all but one must have it, so that their counts do not depend
	 * on their order.
	 * @return the name; empty for that of the class and method
	 */
	String name() default "";

	/**
	 * Algorithm of the limits written in place, such as {@code fixed-window}, or one of
	 * the application's own: the name of an {@link io.github.ratelimit.Algorithm
	 * Algorithm} bean, or of a class.
	 * @return the name; empty for the default, {@code sliding-window}
	 */
	String algorithm() default "";

	/**
	 * What a call uses of each quota. A call that costs nothing asks nobody, and is never
	 * denied: neither by a limit or a block, nor because the store fails.
	 * @return 0 or more, and no more than the smallest quota
	 */
	long cost() default 1;

	/**
	 * Expression for what a call uses of each quota, instead of {@link #cost()}, such as
	 * <code>#rows / 1000 + 1</code>. It must yield a number that is 0 or more; fractions
	 * are rounded up. A call that costs more than a quota is denied.
	 * @return the expression; empty for {@link #cost()}
	 */
	String costExpression() default "";

	/**
	 * By what callers are identified, such as {@code ip}, {@code user},
	 * {@code header:X-User} or {@code ip+user}; each has a count of its own. What starts
	 * with {@code #} is an expression, alone or in a combination, such as
	 * {@code ip+#order.customerId}; parts are separated by a plus sign that is not in
	 * parentheses, brackets or quotes. {@code null} and blank values are missing; a value
	 * counts by its text, so its class must override {@code toString}. One text may hold
	 * several, separated by commas.
	 * @return the identifiers; empty for those of the policy, or
	 * {@code ratelimit.default-identifiers} for limits written in place
	 */
	String[] identifiers() default {};

	/**
	 * Name of the method that answers denied calls instead of an exception. It stands in
	 * the same class or above, may be private or static, takes the same parameters, or
	 * these and a {@link io.github.ratelimit.spring.RateLimitExceededException
	 * RateLimitExceededException}, and returns what the method does. It is called for
	 * denied calls only: not for exceptions of the method, nor if the store fails. What
	 * it throws is passed on. Only on methods; of several annotations, one may name it
	 * for all.
	 * @return the name; empty for none
	 */
	String fallbackMethod() default "";

	/**
	 * Several annotations of one method or type, which are decided together.
	 *
	 * @since 0.1
	 */
	@Target({ ElementType.METHOD, ElementType.TYPE })
	@Retention(RetentionPolicy.RUNTIME)
	@Inherited
	@Documented
	@Reflective
	@interface List {

		/**
		 * The annotations.
		 * @return at least one annotation
		 */
		RateLimited[] value();

	}

}
