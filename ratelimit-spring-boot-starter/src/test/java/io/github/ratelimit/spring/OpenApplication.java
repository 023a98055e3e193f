package io.github.ratelimit.spring;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.security.autoconfigure.UserDetailsServiceAutoConfiguration;
import org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration;
import org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration;
import org.springframework.context.annotation.Configuration;

/** A web application that nobody needs to log in to. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration(exclude = { ServletWebSecurityAutoConfiguration.class,
		UserDetailsServiceAutoConfiguration.class, ManagementWebSecurityAutoConfiguration.class })
public @interface OpenApplication {

}
