package io.github.ratelimit.spring;

/**
 * Returns how many instances of the application are running. While the store fails, each
 * instance grants its share of the quotas of policies with
 * {@code on-store-failure: local}. Declare a bean of this type instead of setting
 * {@code ratelimit.instances} if the number changes.
 * <p>
 * It is called for every such request, so it must be quick. Implementations must be safe
 * for use by several threads.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface InstanceCount {

	/**
	 * Returns the number of instances that share the quotas, including this one; less
	 * than 1 counts as 1.
	 */
	int get();

}
