package io.github.ratelimit.spring;

import io.github.ratelimit.spring.annotation.RateLimited;

/**
 * Has a limited method that heirs in other packages cannot override.
 */
public class PackagePrivate {

	@RateLimited(limits = "1/s")
	void hidden() {
	}

}
