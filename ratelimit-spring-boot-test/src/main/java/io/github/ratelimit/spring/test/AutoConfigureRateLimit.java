package io.github.ratelimit.spring.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import io.github.ratelimit.spring.client.RateLimitClientAutoConfiguration;
import io.github.ratelimit.spring.method.RateLimitMethodAutoConfiguration;
import io.github.ratelimit.spring.config.RateLimitAutoConfiguration;
import io.github.ratelimit.spring.config.RateLimitNonWebAutoConfiguration;
import io.github.ratelimit.spring.config.RateLimitOffAutoConfiguration;
import io.github.ratelimit.spring.redis.RateLimitRedisAutoConfiguration;
import io.github.ratelimit.spring.web.RateLimitWebAutoConfiguration;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/**
 * Configures rate limits in a test without Redis. Put it on a test class with
 * {@code @SpringBootTest}, or with a test slice annotation such as {@code @WebMvcTest},
 * which has no limits otherwise.
 * <p>
 * Tests with the same configuration share an application context and therefore its
 * counts. A test that needs fresh counts advances the clock.
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
		RateLimitNonWebAutoConfiguration.class, RateLimitClientAutoConfiguration.class,
		RateLimitOffAutoConfiguration.class, RateLimitTestAutoConfiguration.class })
public @interface AutoConfigureRateLimit {

	/**
	 * How limits are handled.
	 * @return in memory by default
	 */
	Limits value() default Limits.IN_MEMORY;

	/**
	 * How limits are handled in a test.
	 */
	enum Limits {

		/**
		 * They are enforced in the memory of the test, with the time of a
		 * {@link LimitClock} bean.
		 */
		IN_MEMORY,

		/**
		 * They are switched off.
		 */
		OFF

	}

}
