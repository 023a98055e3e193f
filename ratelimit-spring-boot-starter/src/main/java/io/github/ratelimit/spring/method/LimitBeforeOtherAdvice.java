package io.github.ratelimit.spring.method;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.framework.Advised;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Keeps the limit of a bean before advice that post-processors put before all other, such
 * as that of {@code @Async}, {@code @Retryable} and {@code @ConcurrencyLimit}. So the
 * thread that calls is told of a denial, which is not tried again and waits for nothing.
 * <p>
 * It is not ordered, because post-processors that are come first.
 */
final class LimitBeforeOtherAdvice implements BeanPostProcessor {

	private static final Logger logger = LoggerFactory.getLogger(LimitBeforeOtherAdvice.class);

	private final RateLimitedAdvisor advisor;

	private final RateLimitedBeanCheck check;

	LimitBeforeOtherAdvice(RateLimitedAdvisor advisor, RateLimitedBeanCheck check) {
		this.advisor = advisor;
		this.check = check;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String name) {
		Integer position = this.check.position(name);
		if (position != null && bean instanceof Advised advised && !advised.isFrozen()
				&& advised.indexOf(this.advisor) > position) {
			advised.removeAdvisor(this.advisor);
			advised.addAdvisor(0, this.advisor);
			if (position > 0) {
				logger.info(
						"The limit of the bean '{}' comes before all other advice, and not where its order says, because a post-processor put {} there",
						name, advised.getAdvisors()[1].getAdvice().getClass().getName());
			}
		}
		return bean;
	}

}
