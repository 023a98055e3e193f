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
 * Limits how often a method of a Spring bean is called, by a policy of the configuration
 * or by limits declared inline. Several annotations, composed ones included, are decided
 * together, all or nothing.
 * <p>
 * On a class, the methods that others call share one quota, except those that are
 * annotated themselves: of a controller those that handle requests or messages, of any
 * other class all that are neither private nor static, nor callbacks. The nearest
 * annotation counts, also those of superclasses, interfaces and overridden methods. If an
 * annotated method cannot be intercepted, for example because it is private or final, the
 * application fails at startup.
 * <p>
 * A policy declared inline is named after its class and method ({@code
 * SearchController.search}), or after its class if the class is annotated, unless it has
 * a {@link #name()}. Each class that inherits an annotated method has its own count.
 * <p>
 * A denied call throws {@link io.github.ratelimit.spring.RateLimitExceededException
 * RateLimitExceededException}, and the method is not called. If the store fails and the
 * policy denies calls in that case, {@link io.github.ratelimit.StoreException
 * StoreException} is thrown. If the declared result is a {@code CompletableFuture}, a
 * {@code CompletionStage}, or a type that Spring's {@code ReactiveAdapterRegistry} knows,
 * such as {@code Mono} and {@code Flux}, these exceptions are its error instead. A
 * publisher is decided on each subscription, for the caller that got it.
 * <p>
 * Every call through the proxy is counted, before any other advice such as transactions,
 * caching and method security, also if the path of the web request was counted too. A
 * call from another method of the same object is not limited, as with
 * {@code @Transactional}.
 * <p>
 * All strings may contain placeholders, such as <code>${search.limit}</code>, which are
 * resolved when the application starts. Expressions are written in the Spring Expression
 * Language, and can read the arguments of the call and nothing else: by name, such as
 * {@code #rows}, if the code was compiled with {@code -parameters}, and always by index,
 * as {@code #a0} or {@code #p0}. If one fails, or returns an invalid value,
 * {@link io.github.ratelimit.spring.RateLimitedExpressionException
 * RateLimitedExpressionException} is thrown, and the method is not called.
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
	 * Name of a policy from {@code ratelimit.policies}.
	 * @return the name; empty if there are {@link #limits()}
	 */
	@AliasFor("policy")
	String value() default "";

	/**
	 * Same as {@link #value()}.
	 * @return the name; empty if there are {@link #limits()}
	 */
	@AliasFor("value")
	String policy() default "";

	/**
	 * Limits declared inline, such as <code>{"1/s", "20/m"}</code>, all enforced
	 * together. One string may contain several, separated by commas.
	 * @return the limits; empty if a {@link #policy()} is named
	 */
	String[] limits() default {};

	/**
	 * Name of the policy of limits declared inline. If there are several annotations with
	 * limits on one method or type, all but one must have a name, so that their counts do
	 * not depend on their order.
	 * @return the name; empty to use the class and method
	 */
	String name() default "";

	/**
	 * Algorithm of the limits declared inline, such as {@code fixed-window}, or a custom
	 * algorithm: the name of an {@link io.github.ratelimit.Algorithm Algorithm} bean or
	 * class.
	 * @return the name; empty for {@code ratelimit.defaults.algorithm}
	 */
	String algorithm() default "";

	/**
	 * Cost of a call, used from each quota. A call with cost 0 is never denied, neither
	 * by a limit or a block nor because the store fails, and the store is not called.
	 * @return 0 or more, and no more than the smallest quota
	 */
	long cost() default 1;

	/**
	 * Expression for the cost of a call, instead of {@link #cost()}, such as <code>#rows
	 * / 1000 + 1</code>. It must return a number of at least 0; fractions are rounded up.
	 * A call that costs more than a quota is denied. If clients choose the value, make
	 * sure that the cost is not negative:
	 * <code>#rows &gt; 0 ? #rows / 1000 + 1 : 1</code>.
	 * @return the expression; empty for {@link #cost()}
	 */
	String costExpression() default "";

	/**
	 * Identifiers of the caller, such as {@code ip}, {@code user}, {@code header:X-User}
	 * or {@code ip+user}; each has its own count. An identifier that starts with
	 * {@code #} is an expression, alone or in a combination such as
	 * {@code ip+#order.customerId}. Combined identifiers are separated by plus signs
	 * outside parentheses, brackets and quotes. {@code null} and blank values count as
	 * missing. Values are compared by their {@code toString}, so their class must
	 * override it. One string may contain several identifiers, separated by commas.
	 * @return the identifiers; empty for those of the policy, or
	 * {@code ratelimit.defaults.identifiers} for limits declared inline
	 */
	String[] identifiers() default {};

	/**
	 * Name of a method that is called for denied calls instead of throwing an exception.
	 * It must be in the same class or a superclass, and may be private or static. It
	 * takes the same parameters, optionally followed by a
	 * {@link io.github.ratelimit.spring.RateLimitExceededException
	 * RateLimitExceededException}, and has the same return type. That of a
	 * {@code suspend} function may suspend or not. It is called for denied calls only:
	 * not if the method throws an exception, nor if the store fails. Its exceptions are
	 * passed on. Only allowed on methods; if there are several annotations, one may name
	 * it for all.
	 * @return the name; empty for none
	 */
	String fallbackMethod() default "";

	/**
	 * Several annotations on one method or type, which are decided together.
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
