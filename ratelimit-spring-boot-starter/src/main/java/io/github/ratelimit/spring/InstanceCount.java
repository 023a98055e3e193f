package io.github.ratelimit.spring;

/**
 * Says how many instances of the application there are, for policies whose requests each
 * of them limits alone while the store fails ({@code on-store-failure: local}): each
 * grants its share of the quota. A bean of this type replaces
 * {@code ratelimit.instances}, where the number changes.
 * <p>
 * Asked for every such request, so it must be quick. Implementations are safe for use by
 * several threads.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface InstanceCount {

	/**
	 * Returns the number of instances that share the quotas.
	 * @return the number, this instance included; less than 1 counts as 1
	 */
	int get();

}
