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
 * Limits how often a method is called. Put it on methods of Spring beans. On a class, all
 * non-private methods share one quota, except those with an annotation of their own.
 * Static methods, and inherited methods that are final, are not limited by the annotation
 * of a class.
 * <p>
 * The annotation names a policy of the configuration, or has limits written in place. A
 * policy written in place is named after its class and method
 * ({@code SearchController.search}), or after its class alone, unless it has a
 * {@link #name()}.
 * <p>
 * Several annotations of one method or class, composed ones included, are decided
 * together, all or nothing.
 * <p>
 * The annotation is inherited from superclasses and interfaces, also by methods that
 * override or implement the annotated one, with other type arguments or not. The nearest
 * annotation wins: that of a method replaces those of methods that it overrides or
 * implements, and an annotation of a method replaces that of its class. A policy that is
 * written in place on an inherited method has a count for each class that inherits it.
 * Proxies may be of classes or of interfaces. A method that has the annotation but cannot
 * be intercepted, such as a private or final one, stops the start.
 * <p>
 * A denied call throws {@link io.github.ratelimit.spring.RateLimitExceededException
 * RateLimitExceededException}, and the method is not called. While the store fails, and
 * the policy denies calls then, {@link io.github.ratelimit.StoreException StoreException}
 * is thrown.
 * <p>
 * The limit comes before other advice of the method, such as that of transactions, caches
 * and method security: calls that a cache answers, and calls that are not authorized, are
 * counted. {@code ratelimit.method.order} changes that. On the same method,
 * {@code @Retryable}, {@code @ConcurrencyLimit} and {@code @Async} always come after the
 * limit: a retried call is counted once, a denied call waits for nothing, and the thread
 * that calls gets the exception.
 * <p>
 * Every call is counted, whatever the path of the web request has paid: a policy that has
 * the path and an annotation on the method counts both.
 * <p>
 * Only calls that come in through the proxy are intercepted, as with
 * {@code @Transactional}: a call of a method by another method of the same object is not
 * limited.
 * <p>
 * Outside of a web request, which includes what an {@code @Async} method calls, callers
 * have only those identifiers that are expressions, {@code global}, and {@code user}, if
 * Spring Security knows one on the thread. Calls that have none of the identifiers of
 * their policy share one count.
 * <p>
 * All texts may hold placeholders, such as <code>${search.limit}</code>, which are
 * replaced when the application starts.
 * <p>
 * Expressions are of the Spring Expression Language. They see the arguments of the call,
 * and nothing else: by name, such as {@code #rows}, if the code was compiled with
 * {@code -parameters}, and always by index, as {@code #a0} or {@code #p0}. They cannot
 * name types, beans or constructors, nor assign. A misspelt property or method of an
 * argument stops the start, if the declared type of the parameter says that there is none
 * of that name. A call for which an expression fails, or yields no possible value, throws
 * {@link io.github.ratelimit.spring.RateLimitedExpressionException
 * RateLimitedExpressionException}, and the method is not called; the log says so once.
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
	 * @return the name; empty for {@code ratelimit.defaults.algorithm}
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
	 * {@code ratelimit.defaults.identifiers} for limits written in place
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
