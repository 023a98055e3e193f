package io.github.ratelimit.spring.method;

import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.aop.support.AopUtils;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.util.ClassUtils;

import static io.github.ratelimit.spring.method.LimitedBeans.assertDenied;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Proxies of limited beans, however the application wants them made.
 */
@ExtendWith(OutputCaptureExtension.class)
class RateLimitedProxyTests {

	private final ApplicationContextRunner runner = StarterRunners.inMemory();

	@Test
	void annotationOfInterfaceCountsWhenProxyIsOfClass() {
		this.runner.withBean(Service.class, ServiceImplementation::new).run((context) -> {
			Service bean = context.getBean(Service.class);
			assertThat(AopUtils.isCglibProxy(bean)).isTrue();
			bean.call();
			assertDenied(bean::call, "Rate limit exceeded: ServiceImplementation.call (1/m)");
		});
	}

	@Test
	void annotationOfInterfaceCountsWhenProxyIsOfInterface() {
		this.runner.withBean(Service.class, ServiceImplementation::new)
			.withPropertyValues("spring.aop.proxy-target-class=false")
			.run((context) -> {
				Service bean = context.getBean(Service.class);
				assertThat(AopUtils.isJdkDynamicProxy(bean)).isTrue();
				bean.call();
				assertDenied(bean::call, "Rate limit exceeded: ServiceImplementation.call (1/m)");
			});
	}

	@Test
	void methodIsLimitedWhenAutomaticProxiesAreSwitchedOff() {
		this.runner.withBean(Methods.class).withPropertyValues("spring.aop.auto=false").run((context) -> {
			Methods bean = context.getBean(Methods.class);
			bean.limited();
			assertDenied(bean::limited, "Rate limit exceeded: Methods.limited (1/m)");
		});
	}

	@Test
	void advisorDoesNotCreateBeansTooEarly(CapturedOutput output) {
		this.runner.withBean(Methods.class)
			.withInitializer(
					(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
			.run((context) -> {
				context.getBean(Methods.class).limited();
				assertThat(output).doesNotContain("not eligible for getting processed by all BeanPostProcessors");
			});
		this.runner.withBean(Methods.class)
			.run((context) -> assertThat(output)
				.doesNotContain("not eligible for getting processed by all BeanPostProcessors"));
	}

	@Test
	void methodsAreLimitedWithoutAspectJ() {
		assertThat(ClassUtils.isPresent("org.aspectj.weaver.Advice", null)).isFalse();
	}

	static class Methods {

		@RateLimited(limits = "1/m")
		public void limited() {
		}

	}

	interface Service {

		@RateLimited(limits = "1/m")
		void call();

	}

	static class ServiceImplementation implements Service {

		@Override
		public void call() {
		}

	}

}
