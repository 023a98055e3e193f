package io.github.ratelimit.spring.web;

import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** Logins on Jetty. */
class JettyLoginIT extends LoginContract {

	@Override
	Class<?> application() {
		return OnJetty.class;
	}

	@Configuration(proxyBeanMethods = false)
	@Import({ JettyServer.class, LoginApplication.class })
	static class OnJetty {

	}

}
