package io.github.ratelimit.spring.web;

import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** Dispatches on Jetty. */
class JettyDispatchIT extends DispatchContract {

	@Override
	Class<?> application() {
		return OnJetty.class;
	}

	@Configuration(proxyBeanMethods = false)
	@Import({ JettyServer.class, DispatchApplication.class })
	static class OnJetty {

	}

}
