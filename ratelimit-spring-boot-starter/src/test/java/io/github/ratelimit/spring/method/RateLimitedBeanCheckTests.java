package io.github.ratelimit.spring.method;

import java.lang.reflect.Proxy;
import java.util.function.Supplier;

import io.github.ratelimit.spring.StartFailure;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.core.PriorityOrdered;
import org.springframework.web.context.support.WebApplicationObjectSupport;

import static io.github.ratelimit.spring.method.LimitedBeans.assertDenied;
import static io.github.ratelimit.spring.method.LimitedBeans.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Tests for {@link RateLimitedBeanCheck}: beans whose calls cannot be intercepted.
 */
@ExtendWith(OutputCaptureExtension.class)
class RateLimitedBeanCheckTests {

	private static final String NAME = RateLimitedBeanCheckTests.class.getName();

	private static final String NOT_INTERCEPTED = "calls of private, static and final methods cannot be intercepted; make the method non-final, or annotate a method that other beans call.";

	private final ApplicationContextRunner runner = StarterRunners.inMemory()
		.withPropertyValues("ratelimit.policies.api.limits=1/s");

	private final ApplicationContextRunner lazyRunner = this.runner.withInitializer(
			(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()));

	private final ApplicationContextRunner interfaceRunner = this.runner
		.withPropertyValues("spring.aop.proxy-target-class=false");

	@Test
	void finalClassIsLimitedByItsInterface() {
		for (ApplicationContextRunner each : new ApplicationContextRunner[] { this.interfaceRunner,
				this.lazyRunner.withPropertyValues("spring.aop.proxy-target-class=false") }) {
			each.withBean(FinalService.class).run((context) -> {
				assertThat(context).hasNotFailed();
				Service bean = context.getBean(Service.class);
				assertThat(AopUtils.isJdkDynamicProxy(bean)).isTrue();
				bean.call();
				assertDenied(bean::call);
			});
		}
	}

	@Test
	void finalMethodIsLimitedWhenProxyIsOfInterface() {
		this.interfaceRunner.withBean(Service.class, FinalMethodService::new).run((context) -> {
			Service bean = context.getBean(Service.class);
			bean.call();
			assertDenied(bean::call);
		});
		this.runner.withBean(Service.class, FinalMethodService::new)
			.run((context) -> assertRefused(context, "public final void " + NAME + "$FinalMethodService.call()",
					NOT_INTERCEPTED));
	}

	@Test
	void startFailsWhenMethodIsNotInInterfaceOfProxy() {
		this.interfaceRunner.withBean(Service.class, MoreThanService::new)
			.run((context) -> assertRefused(context, "public void " + NAME + "$MoreThanService.more()",
					"it is not in any interface of the proxy of " + NAME
							+ "$MoreThanService; add the method to one, or set spring.aop.proxy-target-class=true."));
		this.runner.withBean(Service.class, MoreThanService::new).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void otherMethodsOfTypeNeedNotBeInInterface() {
		this.interfaceRunner.withBean(Service.class, TypedService::new).run((context) -> {
			Service bean = context.getBean(Service.class);
			bean.call();
			assertDenied(bean::call);
		});
	}

	@Test
	void wrongAnnotationsOfLaterBeansStopTheStart() {
		this.lazyRunner.withBean(Wrong.class).run((context) -> assertRefused(context, Wrong.PLACE, Wrong.REASON));
		this.runner.withUserConfiguration(PrototypeConfiguration.class)
			.run((context) -> assertRefused(context, Wrong.PLACE, Wrong.REASON));
		this.lazyRunner.withBean(FinalMethod.class)
			.run((context) -> assertRefused(context, "public final void " + NAME + "$FinalMethod.call()",
					NOT_INTERCEPTED));
	}

	@Test
	void finalMethodOfLazyBeanIsRefusedAtItsCreation() {
		this.lazyRunner.withBean(FinalMethodService.class)
			.run((context) -> assertThatException().isThrownBy(() -> context.getBean(Service.class))
				.withStackTraceContaining(NOT_INTERCEPTED));
	}

	@Test
	void checkCreatesNoLazyBeans() {
		LazyMethods.created = 0;
		this.lazyRunner.withBean(LazyMethods.class).run((context) -> {
			assertThat(LazyMethods.created).isZero();
			LazyMethods bean = context.getBean(LazyMethods.class);
			bean.call();
			assertDenied(bean::call);
		});
	}

	@Test
	void startFailsWhenPostProcessorNeedsBean() {
		this.runner.withBean("limited", Methods.class)
			.withUserConfiguration(NeedyConfiguration.class)
			.run((context) -> assertRefused(context, "public void " + NAME + "$Methods.call()",
					"its bean 'limited' is created before calls can be intercepted, because the post-processor 'needy' needs it; move the method to another bean."));
	}

	@Test
	void logSaysWhenSomebodyElseMadeBean(CapturedOutput output) {
		this.runner.withInitializer((context) -> context.getBeanFactory().registerSingleton("foreign", new Methods()))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).contains("@RateLimited on public void " + NAME
						+ "$Methods.call() does not limit calls of the bean 'foreign', which was not created by the bean factory");
			});
	}

	@Test
	void scopedAndCircularAndFactoryMadeBeansAreLimited(CapturedOutput output) {
		this.runner
			.withInitializer((context) -> context.getBeanFactory().registerScope("thread", new SimpleThreadScope()))
			.withUserConfiguration(ScopedConfiguration.class)
			.run((context) -> {
				Methods bean = context.getBean("scoped", Methods.class);
				bean.call();
				assertDenied(bean::call);
			});
		this.runner.withUserConfiguration(CircularConfiguration.class)
			.withInitializer((context) -> ((GenericApplicationContext) context).getDefaultListableBeanFactory()
				.setAllowCircularReferences(true))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				CircularA bean = context.getBean(CircularA.class);
				bean.call();
				assertDenied(context.getBean(CircularB.class).other::call);
			});
		this.runner.withBean("made", ServiceFactory.class).run((context) -> {
			Service bean = context.getBean(Service.class);
			bean.call();
			assertDenied(bean::call, "Rate limit exceeded: Service.call (1/s)");
		});
		assertThat(output).doesNotContain("does not limit");
	}

	@Test
	void inheritedFinalMethodsAreLeftOutWhenTypeIsAnnotated() {
		run(this.runner, Supported.class, (bean) -> {
			bean.call();
			assertDenied(bean::call, "Rate limit exceeded: Supported (1/s)");
		});
	}

	private static void assertRefused(AssertableApplicationContext context, String place, String reason) {
		assertThat(StartFailure.cause(context, InvalidRateLimitedException.class))
			.hasMessage("Invalid @RateLimited on %s: %s", place, reason);
	}

	interface Service {

		@RateLimited(limits = "1/s")
		void call();

	}

	static final class FinalService implements Service {

		@Override
		public void call() {
		}

	}

	static class FinalMethodService implements Service {

		@Override
		public final void call() {
		}

	}

	static class FinalMethod {

		@RateLimited("api")
		public final void call() {
		}

	}

	static class MoreThanService implements Service {

		@Override
		public void call() {
		}

		@RateLimited("api")
		public void more() {
		}

	}

	@RateLimited("api")
	static class TypedService implements Service {

		@Override
		public void call() {
		}

		public void more() {
		}

	}

	static class Wrong {

		static final String PLACE = "public void " + NAME + "$Wrong.call()";

		static final String REASON = "there is no policy 'nothing' below ratelimit.policies, only [api].";

		@RateLimited("nothing")
		public void call() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class PrototypeConfiguration {

		@Bean
		@Scope("prototype")
		Wrong wrong() {
			return new Wrong();
		}

	}

	static class LazyMethods {

		static int created;

		LazyMethods() {
			// The proxy is made without a constructor.
			created++;
		}

		@RateLimited("api")
		public void call() {
		}

	}

	static class Methods {

		@RateLimited("api")
		public void call() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class NeedyConfiguration {

		@Bean
		static Supplier<Methods> between(Methods limited) {
			return () -> limited;
		}

		@Bean
		static Needy needy(Supplier<Methods> between) {
			return new Needy();
		}

	}

	static class Needy implements BeanPostProcessor, PriorityOrdered {

		@Override
		public int getOrder() {
			return 0;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ScopedConfiguration {

		@Bean
		@Scope(scopeName = "thread", proxyMode = ScopedProxyMode.TARGET_CLASS)
		Methods scoped() {
			return new Methods();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class CircularConfiguration {

		@Bean
		CircularA circularA() {
			return new CircularA();
		}

		@Bean
		CircularB circularB() {
			return new CircularB();
		}

	}

	static class CircularA {

		@Autowired
		CircularB other;

		@RateLimited("api")
		public void call() {
		}

	}

	static class CircularB {

		@Autowired
		CircularA other;

	}

	static class ServiceFactory implements FactoryBean<Service> {

		@Override
		public Service getObject() {
			return (Service) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Service.class },
					(proxy, method, arguments) -> null);
		}

		@Override
		public Class<?> getObjectType() {
			return Service.class;
		}

	}

	@RateLimited(limits = "1/s")
	static class Supported extends WebApplicationObjectSupport {

		public void call() {
		}

	}

}
