package io.github.ratelimit.spring.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import io.github.ratelimit.spring.method.RateLimitMethodAutoConfiguration;
import io.github.ratelimit.spring.policy.RateLimitAutoConfiguration;
import io.github.ratelimit.spring.method.RateLimitNonWebAutoConfiguration;
import io.github.ratelimit.spring.redis.RateLimitRedisAutoConfiguration;
import io.github.ratelimit.spring.web.RateLimitWebAutoConfiguration;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/**
 * Says what becomes of limits in a test, which needs no Redis then. Stands on a test
 * class beside {@code @SpringBootTest}, or beside an annotation for a part of the
 * application such as {@code @WebMvcTest}, in which there are no limits otherwise.
 * <p>
 * Tests with the same configuration share an application and so its counts, as they share
 * its beans. A test that needs them to be new sets the clock ahead.
 *
 * @since 0.1
 * @see LimitClock
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@ImportAutoConfiguration({ RateLimitAutoConfiguration.class, RateLimitRedisAutoConfiguration.class,
		RateLimitMethodAutoConfiguration.class, RateLimitWebAutoConfiguration.class,
		RateLimitNonWebAutoConfiguration.class, RateLimitTestAutoConfiguration.class })
public @interface AutoConfigureRateLimit {

	/**
	 * What becomes of limits.
	 * @return in memory unless said otherwise
	 */
	Limits value() default Limits.IN_MEMORY;

	/**
	 * What becomes of limits in a test.
	 */
	enum Limits {

		/**
		 * They are counted in the memory of the test, by a {@link LimitClock}, which is a
		 * bean.
		 */
		IN_MEMORY,

		/**
		 * There are none.
		 */
		OFF

	}

}
