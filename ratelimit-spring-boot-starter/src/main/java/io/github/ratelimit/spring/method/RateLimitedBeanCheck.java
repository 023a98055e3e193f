package io.github.ratelimit.spring.method;

import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.ProxyConfig;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.Ordered;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;

/**
 * Refuses beans with {@code @RateLimited} whose calls cannot be intercepted. Beans are
 * checked when they are created. When the application has started, beans that are not
 * created yet are checked too if their type is known.
 * <p>
 * Safe for use by several threads.
 */
final class RateLimitedBeanCheck implements BeanPostProcessor, SmartInitializingSingleton, BeanFactoryAware, Ordered {

	private static final Logger logger = LoggerFactory.getLogger(RateLimitedBeanCheck.class);

	private final RateLimitedAdvisor advisor;

	private final RateLimitedOperations operations;

	private final InterceptionCheck interceptions;

	/** Names of limited beans that passed the post-processor that proxies them. */
	private final Set<String> seen = ConcurrentHashMap.newKeySet();

	/** Number of advisors before the limit of a bean when it was proxied. */
	private final Map<String, Integer> positions = new ConcurrentHashMap<>();

	private @Nullable ConfigurableListableBeanFactory beanFactory;

	/**
	 * Creates a check.
	 * @param advisor the advisor of the same application
	 */
	public RateLimitedBeanCheck(RateLimitedAdvisor advisor) {
		this.advisor = advisor;
		this.operations = advisor.operations();
		this.interceptions = new InterceptionCheck(this.operations);
	}

	@Override
	public void setBeanFactory(BeanFactory beanFactory) {
		this.beanFactory = (ConfigurableListableBeanFactory) beanFactory;
	}

	/**
	 * Runs right after the post-processor that creates the proxies.
	 */
	@Override
	public int getOrder() {
		return HIGHEST_PRECEDENCE + 1;
	}

	@Override
	public Object postProcessBeforeInitialization(Object bean, String name) {
		Class<?> type = bean.getClass();
		if (!this.operations.of(type).isEmpty()) {
			this.interceptions.requireProxyable(type, isProxiedByClass(name, type));
			if (beanFactory().containsBeanDefinition(name)) {
				this.seen.add(name);
			}
		}
		return bean;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String name) {
		if (bean instanceof Advised advised && isLimited(bean)) {
			requireLimited(bean);
			this.positions.put(name, advised.indexOf(this.advisor));
		}
		return bean;
	}

	/**
	 * Returns the number of advisors that the order puts before the limit of a bean.
	 */
	@Nullable Integer position(String name) {
		return this.positions.get(name);
	}

	@Override
	public void afterSingletonsInstantiated() {
		ConfigurableListableBeanFactory factory = beanFactory();
		Stream.of(factory.getBeanDefinitionNames(), factory.getSingletonNames())
			.flatMap(Arrays::stream)
			.distinct()
			.filter((name) -> !factory.containsBeanDefinition(name)
					|| !factory.getMergedBeanDefinition(name).isAbstract())
			.forEach((name) -> checkIfPossible(name, factory));
	}

	private void checkIfPossible(String name, ConfigurableListableBeanFactory factory) {
		try {
			check(name, factory);
		}
		catch (LinkageError | TypeNotPresentException ex) {
			// A class that it refers to is missing. The bean may never be created or
			// used; it is checked again when it is created.
			logger.debug("The type of the bean '{}' cannot be checked", name, ex);
		}
		catch (InvalidRateLimitedException ex) {
			throw new BeanCreationException(name, String.valueOf(ex.getMessage()), ex);
		}
	}

	private void check(String name, ConfigurableListableBeanFactory factory) {
		Object bean = factory.containsSingleton(name) ? factory.getSingleton(name) : null;
		if (bean == null || bean instanceof FactoryBean) {
			Class<?> type = factory.getType(name, false);
			if (type != null) {
				checkType(name, type);
			}
		}
		else if (isLimited(bean)) {
			requireLimited(bean);
		}
		else if (!(AopUtils.isAopProxy(bean) && bean instanceof AopInfrastructureBean)) {
			checkUnlimited(name, bean, factory);
		}
	}

	/** Checks a bean that is not created yet. */
	private void checkType(String name, Class<?> type) {
		if (type.isInterface() || Modifier.isAbstract(type.getModifiers())) {
			this.operations.check(type);
		}
		else if (!this.operations.of(type).isEmpty()) {
			this.interceptions.requireProxyable(type, isProxiedByClass(name, type));
			this.interceptions.warnOfAsync(type);
		}
	}

	private void requireLimited(Object proxy) {
		this.interceptions.requireIntercepted(proxy);
		this.interceptions.warnOfAsync(AopUtils.getTargetClass(proxy));
	}

	private void checkUnlimited(String name, Object bean, ConfigurableListableBeanFactory factory) {
		Class<?> type = AopProxyUtils.ultimateTargetClass(bean);
		Collection<RateLimitedOperation> operations = this.operations.of(type);
		if (operations.isEmpty() || this.seen.contains(name)) {
			return;
		}
		String processor = findProcessor(name, bean, factory);
		if (processor != null) {
			throw InterceptionCheck.notIntercepted(operations,
					"its bean '%s' is created before calls can be intercepted, because %s".formatted(name,
							processor.equals(name) ? "it is a post-processor of beans or their factory"
									: "the post-processor '%s' needs it".formatted(processor)),
					"move the method to another bean");
		}
		// It was created elsewhere, as test doubles are.
		logger.warn(
				"@RateLimited on {} does not limit calls of the bean '{}', which was not created by the bean factory",
				operations.iterator().next().place(), name);
	}

	/** Finds the post-processor because of which a bean was created early. */
	private static @Nullable String findProcessor(String name, Object bean, ConfigurableListableBeanFactory factory) {
		if (isProcessor(bean.getClass())) {
			return name;
		}
		Set<String> found = new LinkedHashSet<>(List.of(name));
		Deque<String> left = new ArrayDeque<>(found);
		while (!left.isEmpty()) {
			for (String dependent : factory.getDependentBeans(left.remove())) {
				if (found.add(dependent) && factory.containsBean(dependent)) {
					if (isProcessor(factory.getType(dependent, false))) {
						return dependent;
					}
					left.add(dependent);
				}
			}
		}
		return null;
	}

	private static boolean isProcessor(@Nullable Class<?> type) {
		return type != null && (BeanPostProcessor.class.isAssignableFrom(type)
				|| BeanFactoryPostProcessor.class.isAssignableFrom(type));
	}

	private boolean isLimited(Object bean) {
		return bean instanceof Advised advised && Arrays.stream(advised.getAdvisors())
			.anyMatch((each) -> each.getAdvice() == this.advisor.getAdvice());
	}

	private boolean isProxiedByClass(String name, Class<?> type) {
		if (Proxy.isProxyClass(type) || type.isHidden()) {
			return false;
		}
		ConfigurableListableBeanFactory factory = beanFactory();
		if (AutoProxyUtils.shouldProxyTargetClass(factory, name)
				|| ClassUtils.getAllInterfacesForClass(type).length == 0) {
			return true;
		}
		if (factory.containsBeanDefinition(name)
				&& factory.getBeanDefinition(name).hasAttribute(AutoProxyUtils.EXPOSED_INTERFACES_ATTRIBUTE)) {
			return false;
		}
		return factory.getBean(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME, ProxyConfig.class).isProxyTargetClass();
	}

	private ConfigurableListableBeanFactory beanFactory() {
		Assert.state(this.beanFactory != null, "There must be a bean factory");
		return this.beanFactory;
	}

}
