package io.github.ratelimit.spring.web;

/** Logins on Tomcat. */
class TomcatLoginIT extends LoginContract {

	@Override
	Class<?> application() {
		return LoginApplication.class;
	}

}
