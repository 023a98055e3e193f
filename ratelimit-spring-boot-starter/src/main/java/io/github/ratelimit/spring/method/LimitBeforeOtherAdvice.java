package io.github.ratelimit.spring.method;

import java.lang.reflect.Method;
import java.util.List;

import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Keeps the limit of a method before advice that post-processors put first, such as that
 * of {@code @Async}, {@code @Retryable} and {@code @ConcurrencyLimit}: the caller gets
 * the denial, which is not retried and does not wait. Other methods are limited by the
 * order. Not ordered, so that it runs after the ordered post-processors.
 */
record LimitBeforeOtherAdvice(RateLimitedAdvisor advisor, RateLimitedBeanCheck check) implements BeanPostProcessor {

	@Override
	public Object postProcessAfterInitialization(Object bean, String name) {
		Integer position = this.check.position(name);
		if (position != null && bean instanceof Advised advised && !advised.isFrozen()
				&& advised.indexOf(this.advisor) > position) {
			List<Advisor> added = List.of(advised.getAdvisors()).subList(0, advised.indexOf(this.advisor) - position);
			advised.replaceAdvisor(this.advisor, limit(added, false));
			advised.addAdvisor(0, limit(added, true));
		}
		return bean;
	}

	/** Returns the limit of the methods with the added advice, or of the others. */
	private Advisor limit(List<Advisor> added, boolean advised) {
		return new DefaultPointcutAdvisor(new StaticMethodMatcherPointcut() {

			@Override
			public boolean matches(Method method, Class<?> type) {
				return LimitBeforeOtherAdvice.this.advisor.matches(method, type)
						&& added.stream().anyMatch((each) -> isFor(each, method, type)) == advised;
			}

		}, this.advisor.getAdvice());
	}

	private static boolean isFor(Advisor advisor, Method method, Class<?> type) {
		Pointcut pointcut = (advisor instanceof PointcutAdvisor known) ? known.getPointcut() : Pointcut.TRUE;
		return pointcut.getClassFilter().matches(type) && pointcut.getMethodMatcher().matches(method, type);
	}

}
