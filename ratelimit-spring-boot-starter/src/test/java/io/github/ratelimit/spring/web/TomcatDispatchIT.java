package io.github.ratelimit.spring.web;

/** Dispatches on Tomcat. */
class TomcatDispatchIT extends DispatchContract {

	@Override
	Class<?> application() {
		return DispatchApplication.class;
	}

}
