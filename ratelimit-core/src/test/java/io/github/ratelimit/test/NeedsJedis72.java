package io.github.ratelimit.test;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.LifecycleContext;
import net.jqwik.api.lifecycle.SkipExecutionHook;
import org.junit.jupiter.api.condition.EnabledIf;

/**
 * A test of what works from Jedis 7.2 on: clients with a time budget, which build on
 * {@code RedisClient}; plain commands, for which pipelines had another type; and
 * {@code MultiDbClient}. With an older version it is left out, which the report counts.
 */
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@EnabledIf(value = "io.github.ratelimit.test.JedisClients#areNew", disabledReason = NeedsJedis72.REASON)
@AddLifecycleHook(NeedsJedis72.Skip.class)
public @interface NeedsJedis72 {

	/** Why it is left out. */
	String REASON = "Needs Jedis 7.2";

	/** The same for tests of jqwik. */
	final class Skip implements SkipExecutionHook {

		@Override
		public SkipResult shouldBeSkipped(LifecycleContext context) {
			return JedisClients.areNew() ? SkipResult.doNotSkip() : SkipResult.skip(REASON);
		}

	}

}
