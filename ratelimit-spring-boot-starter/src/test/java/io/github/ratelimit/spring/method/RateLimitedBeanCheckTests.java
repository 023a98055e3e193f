package io.github.ratelimit.spring.method;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import io.github.ratelimit.spring.PackagePrivate;
import io.github.ratelimit.spring.StartFailure;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.aopalliance.aop.Advice;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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

import static io.github.ratelimit.spring.method.LimitedBeans.assertDenied;
import static io.github.ratelimit.spring.method.LimitedBeans.assertLimited;
import static io.github.ratelimit.spring.method.LimitedBeans.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Tests for {@link RateLimitedBeanCheck}: beans whose calls cannot be intercepted.
 */
@ExtendWith(OutputCaptureExtension.class)
class RateLimitedBeanCheckTests {

	private static final String NAME = RateLimitedBeanCheckTests.class.getName();

	private final ApplicationContextRunner runner = StarterRunners.inMemory()
		.withPropertyValues("ratelimit.policies.api.limits=1/s");

	private final ApplicationContextRunner lazyRunner = this.runner.withInitializer(
			(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()));

	private final ApplicationContextRunner interfaceRunner = this.runner
		.withPropertyValues("spring.aop.proxy-target-class=false");

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					Private            | private void $Private.call() | calls of private, static and final methods cannot be intercepted; make the method non-private, or annotate a method that other beans call.
					Static             | public static void $Static.call() | calls of private, static and final methods cannot be intercepted; make the method non-static, or annotate a method that other beans call.
					Final              | public final void $Final.call() | calls of private, static and final methods cannot be intercepted; make the method non-final, or annotate a method that other beans call.
					FinalBelowType     | public final void $FinalBelowType.below() | calls of private, static and final methods cannot be intercepted; make the method non-final, or annotate a method that other beans call.
					FinalClass         | public void $SealedClass.call() in $FinalClass | the class is final, so its calls cannot be intercepted; make the class neither final nor sealed, or implement an interface and set spring.aop.proxy-target-class=false.
					SealedClass        | public void $SealedClass.call() | the class is sealed, so its calls cannot be intercepted; make the class neither final nor sealed, or implement an interface and set spring.aop.proxy-target-class=false.
					Elsewhere          | void io.github.ratelimit.spring.PackagePrivate.hidden() | void io.github.ratelimit.spring.PackagePrivate.hidden() is not visible to the proxy of $Elsewhere, so its calls cannot be intercepted; make the method protected or public.
					Processor          | public void $Processor.call() | its bean 'bean' is created before calls can be intercepted, because it is a post-processor of beans or their factory; move the method to another bean.
					Interceptor        | public void $Methods.call() in $Interceptor | calls of beans that intercept other beans cannot be intercepted; move the method to another bean.
					""")
	void startFails(String type, String place, String reason) throws Exception {
		Class<?> declared = Class.forName(NAME + '$' + type);
		this.runner.withBean("bean", declared).run((context) -> assertRefused(context, place, reason));
	}

	@ParameterizedTest
	@ValueSource(classes = { FinalService.class, FinalMethodService.class, TypedService.class })
	void beanIsLimitedByItsInterface(Class<? extends Service> type) {
		this.interfaceRunner.withBean(type).run((context) -> {
			Service bean = context.getBean(Service.class);
			assertThat(AopUtils.isJdkDynamicProxy(bean)).isTrue();
			assertLimited(bean::call);
		});
	}

	@Test
	void startFailsWhenMethodIsNotInInterfaceOfProxy() {
		this.interfaceRunner.withBean(MoreThanService.class)
			.run((context) -> assertRefused(context, "public void $MoreThanService.more()",
					"it is not in any interface of the proxy of $MoreThanService; add the method to one, or set spring.aop.proxy-target-class=true."));
		this.runner.withBean(MoreThanService.class).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void wrongAnnotationsOfLaterBeansStopTheStart() {
		for (ApplicationContextRunner each : List.of(this.lazyRunner.withBean(Wrong.class),
				this.runner.withBean(Wrong.class, Wrong::new, (definition) -> definition.setScope("prototype")))) {
			each.run((context) -> assertRefused(context, "public void $Wrong.call()",
					"there is no policy 'nothing' below ratelimit.policies, only [api]."));
		}
		this.lazyRunner.withBean(FinalMethodService.class)
			.run((context) -> assertThatException().isThrownBy(() -> context.getBean(Service.class))
				.withStackTraceContaining("make the method non-final"));
	}

	@Test
	void checkCreatesNoLazyBeans() {
		AtomicInteger created = new AtomicInteger();
		this.lazyRunner.withBean(Methods.class, () -> {
			created.incrementAndGet();
			return new Methods();
		}).run((context) -> {
			assertThat(created).hasValue(0);
			Methods bean = context.getBean(Methods.class);
			assertLimited(bean::call);
		});
	}

	@Test
	void startFailsWhenPostProcessorNeedsBean() {
		this.runner.withBean("limited", Methods.class)
			.withUserConfiguration(NeedyConfiguration.class)
			.run((context) -> assertRefused(context, "public void $Methods.call()",
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
			.withBean(Circular.class)
			.withBean(Link.class)
			.withBean("made", ServiceFactory.class)
			.withInitializer((context) -> ((GenericApplicationContext) context).getDefaultListableBeanFactory()
				.setAllowCircularReferences(true))
			.run((context) -> {
				Methods bean = context.getBean("scoped", Methods.class);
				assertLimited(bean::call);
				context.getBean(Circular.class).call();
				assertDenied(context.getBean(Link.class).circular()::call);
				assertLimited(context.getBean(Service.class)::call);
			});
		assertThat(output).doesNotContain("does not limit");
	}

	private static void assertRefused(AssertableApplicationContext context, String place, String reason) {
		assertThat(StartFailure.cause(context, InvalidRateLimitedException.class)).hasMessage(
				"Invalid @RateLimited on %s: %s", place.replace("$", NAME + '$'), reason.replace("$", NAME + '$'));
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

	static class Methods {

		@RateLimited("api")
		public void call() {
		}

	}

	static class Wrong {

		@RateLimited("nothing")
		public void call() {
		}

	}

	static class Private {

		@RateLimited("api")
		private void call() {
		}

	}

	static class Static {

		@RateLimited("api")
		public static void call() {
		}

	}

	static class Final {

		@RateLimited("api")
		public final void call() {
		}

	}

	static class FinalBelowType extends TypedService {

		public final void below() {
		}

	}

	static final class FinalClass extends SealedClass {

	}

	static sealed class SealedClass {

		@RateLimited("api")
		public void call() {
		}

	}

	static class Elsewhere extends PackagePrivate {

	}

	static class Needy implements BeanPostProcessor, PriorityOrdered {

		@Override
		public int getOrder() {
			return 0;
		}

	}

	static class Processor extends Needy {

		@RateLimited("api")
		public void call() {
		}

	}

	static class Interceptor extends Methods implements Advice {

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

	static class Circular {

		@Autowired
		Link link;

		@RateLimited(limits = "1/s")
		public void call() {
		}

	}

	record Link(Circular circular) {

	}

	@Configuration(proxyBeanMethods = false)
	static class ScopedConfiguration {

		@Bean
		@Scope(scopeName = "thread", proxyMode = ScopedProxyMode.TARGET_CLASS)
		Methods scoped() {
			return new Methods();
		}

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

}
