package io.github.ratelimit.spring.method;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import org.aopalliance.aop.Advice;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.Ordered;
import org.springframework.util.ClassUtils;

/**
 * Refuses beans with {@code @RateLimited} whose calls cannot be intercepted. Beans are
 * checked when they are created. When the application has started, the annotations of
 * beans that are not created yet are read too, if their class is known.
 * <p>
 * Safe for use by several threads.
 */
final class RateLimitedBeanCheck implements BeanPostProcessor, SmartInitializingSingleton, Ordered {

	private static final Logger logger = LoggerFactory.getLogger(RateLimitedBeanCheck.class);

	private final RateLimitedAdvisor advisor;

	/** Names of limited beans that passed the post-processor that proxies them. */
	private final Set<String> seen = ConcurrentHashMap.newKeySet();

	/** Number of advisors before the limit of a bean when it was proxied. */
	private final Map<String, Integer> positions = new ConcurrentHashMap<>();

	private final ConfigurableListableBeanFactory beanFactory;

	RateLimitedBeanCheck(RateLimitedAdvisor advisor, ConfigurableListableBeanFactory beanFactory) {
		this.advisor = advisor;
		this.beanFactory = beanFactory;
	}

	/** Runs right after the post-processor that creates the proxies. */
	@Override
	public int getOrder() {
		return HIGHEST_PRECEDENCE + 1;
	}

	@Override
	public Object postProcessBeforeInitialization(Object bean, String name) {
		if (requireProxyable(bean.getClass()) && this.beanFactory.containsBeanDefinition(name)) {
			this.seen.add(name);
		}
		return bean;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String name) {
		if (bean instanceof Advised advised && isLimited(advised)) {
			requireIntercepted(bean);
			this.positions.put(name, advised.indexOf(this.advisor));
		}
		return bean;
	}

	/** Returns the number of advisors that the order puts before the limit of a bean. */
	@Nullable Integer position(String name) {
		return this.positions.get(name);
	}

	@Override
	public void afterSingletonsInstantiated() {
		ConfigurableListableBeanFactory factory = this.beanFactory;
		Stream.of(factory.getBeanDefinitionNames(), factory.getSingletonNames())
			.flatMap(Arrays::stream)
			.distinct()
			.filter((name) -> !factory.containsBeanDefinition(name)
					|| !factory.getMergedBeanDefinition(name).isAbstract())
			.forEach(this::check);
	}

	private void check(String name) {
		ConfigurableListableBeanFactory factory = this.beanFactory;
		try {
			Object bean = factory.containsSingleton(name) ? factory.getSingleton(name) : null;
			if (bean == null || bean instanceof FactoryBean) {
				Class<?> type = factory.getType(name, false);
				if (type != null && !Modifier.isAbstract(type.getModifiers())) {
					requireProxyable(type);
				}
			}
			else if (bean instanceof Advised advised && isLimited(advised)) {
				requireIntercepted(bean);
			}
			else if (!(AopUtils.isAopProxy(bean) && bean instanceof AopInfrastructureBean)
					&& !this.seen.contains(name)) {
				checkUnlimited(name, bean);
			}
		}
		catch (LinkageError | TypeNotPresentException ex) {
			// A class that it refers to is missing. The bean may never be created or
			// used; it is checked again when it is created.
			logger.debug("The type of the bean '{}' cannot be checked", name, ex);
		}
	}

	/**
	 * Refuses a class with limited methods that no proxy can intercept.
	 * @return whether it has limited methods
	 */
	private boolean requireProxyable(Class<?> beanClass) {
		Collection<LimitedMethod> methods = this.advisor.limited(beanClass);
		if (methods.isEmpty()) {
			return false;
		}
		Class<?> type = ClassUtils.getUserClass(beanClass);
		if (Stream.of(Advice.class, Pointcut.class, Advisor.class, AopInfrastructureBean.class)
			.anyMatch((infrastructure) -> infrastructure.isAssignableFrom(type))) {
			throw notIntercepted(methods, "calls of beans that intercept other beans cannot be intercepted",
					"move the method to another bean");
		}
		if (ClassUtils.getAllInterfacesForClass(type).length == 0) {
			if (Modifier.isFinal(type.getModifiers()) || type.isSealed()) {
				throw notIntercepted(methods,
						"the class is %s, so its calls cannot be intercepted"
							.formatted(type.isSealed() ? "sealed" : "final"),
						"make the class neither final nor sealed, or implement an interface and set spring.aop.proxy-target-class=false");
			}
			requireOverridable(type, type, methods);
		}
		return true;
	}

	private void checkUnlimited(String name, Object bean) {
		Collection<LimitedMethod> methods = this.advisor.limited(AopProxyUtils.ultimateTargetClass(bean));
		if (methods.isEmpty()) {
			return;
		}
		String processor = findProcessor(name, new HashSet<>());
		if (processor != null) {
			throw notIntercepted(methods,
					"its bean '%s' is created before calls can be intercepted, because %s".formatted(name,
							processor.equals(name) ? "it is a post-processor of beans or their factory"
									: "the post-processor '%s' needs it".formatted(processor)),
					"move the method to another bean");
		}
		// It was created elsewhere, as test doubles are.
		logger.warn(
				"@RateLimited on {} does not limit calls of the bean '{}', which was not created by the bean factory",
				methods.iterator().next().place(), name);
	}

	/** Finds the post-processor because of which a bean was created early. */
	private @Nullable String findProcessor(String name, Set<String> seen) {
		if (!seen.add(name) || !this.beanFactory.containsBean(name)) {
			return null;
		}
		if (this.beanFactory.isTypeMatch(name, BeanPostProcessor.class)
				|| this.beanFactory.isTypeMatch(name, BeanFactoryPostProcessor.class)) {
			return name;
		}
		return Stream.of(this.beanFactory.getDependentBeans(name))
			.map((dependent) -> findProcessor(dependent, seen))
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
	}

	private boolean isLimited(Advised advised) {
		return Arrays.stream(advised.getAdvisors()).anyMatch((each) -> each.getAdvice() == this.advisor.getAdvice());
	}

	/** Refuses a proxy that does not intercept all limited methods. */
	private void requireIntercepted(Object proxy) {
		Class<?> type = AopUtils.getTargetClass(proxy);
		Collection<LimitedMethod> methods = this.advisor.limited(type);
		if (!AopUtils.isJdkDynamicProxy(proxy)) {
			requireOverridable(ClassUtils.getUserClass(type), proxy.getClass(), methods);
			requireNoFinalCallback(ClassUtils.getUserClass(type), methods);
			return;
		}
		for (LimitedMethod limited : methods) {
			boolean exposed = Arrays.stream(proxy.getClass().getInterfaces())
				.flatMap((candidate) -> Arrays.stream(candidate.getMethods()))
				.anyMatch((candidate) -> candidate.getName().equals(limited.method().getName())
						&& AopUtils.getMostSpecificMethod(candidate, type).equals(limited.method()));
			if (!exposed && limited.onMethod()) {
				throw InvalidRateLimitedException.notIntercepted(limited.place(),
						"it is not in any interface of the proxy of %s".formatted(type.getName()),
						"add the method to one, or set spring.aop.proxy-target-class=true");
			}
		}
	}

	private static void requireOverridable(Class<?> type, Class<?> heir, Collection<LimitedMethod> methods) {
		for (LimitedMethod limited : methods) {
			Method method = limited.method();
			if (Modifier.isFinal(method.getModifiers())) {
				throw InvalidRateLimitedException.notIntercepted(method.toGenericString(), method);
			}
			if (!CoveredMethods.canBeOverridden(method, heir)) {
				throw InvalidRateLimitedException.notIntercepted(method.toGenericString(),
						"%s is not visible to the proxy of %s, so its calls cannot be intercepted".formatted(method,
								type.getName()),
						"make the method protected or public");
			}
		}
	}

	/**
	 * Refuses a class that frameworks call by a final method, as they do filters: a proxy
	 * runs it itself, and was created without a constructor.
	 */
	private static void requireNoFinalCallback(Class<?> type, Collection<LimitedMethod> methods) {
		for (Class<?> each : ClassUtils.getAllInterfacesForClass(type)) {
			for (Method declared : each.getMethods()) {
				Method method = ClassUtils.getMostSpecificMethod(declared, type);
				if (Modifier.isFinal(method.getModifiers()) && hasFields(method.getDeclaringClass())
						&& !CoveredMethods.isCalledWithoutProxy(method, type)) {
					throw notIntercepted(methods,
							"%s is final, so that the proxy runs it itself, without the fields of the bean"
								.formatted(method),
							"move the method to another bean");
				}
			}
		}
	}

	private static boolean hasFields(@Nullable Class<?> type) {
		return type != null
				&& (Stream.of(type.getDeclaredFields()).anyMatch((field) -> !Modifier.isStatic(field.getModifiers()))
						|| hasFields(type.getSuperclass()));
	}

	private static InvalidRateLimitedException notIntercepted(Collection<LimitedMethod> methods, String reason,
			String remedy) {
		return InvalidRateLimitedException.notIntercepted(methods.iterator().next().place(), reason, remedy);
	}

}
