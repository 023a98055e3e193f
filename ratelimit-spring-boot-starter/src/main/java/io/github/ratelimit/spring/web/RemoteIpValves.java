package io.github.ratelimit.spring.web;

import java.util.List;

import org.apache.catalina.Container;
import org.apache.catalina.Engine;
import org.apache.catalina.Host;
import org.apache.catalina.Server;
import org.apache.catalina.Service;
import org.apache.catalina.Valve;
import org.apache.catalina.valves.RemoteIpValve;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * Finds valves of an embedded Tomcat that replace the address of a connection by that of
 * a header, before any filter runs. Unlike those of settings, they are added by code.
 */
final class RemoteIpValves {

	private RemoteIpValves() {
	}

	/**
	 * Rejects trusted proxies beside such a valve.
	 * @param server the server, with the valves of the application
	 * @param proxies the trusted proxies
	 * @throws InvalidConfigurationPropertyValueException if there is such a valve
	 */
	static void refuse(Server server, List<String> proxies) {
		for (Service service : server.findServices()) {
			Engine engine = service.getContainer();
			if (engine != null) {
				refuse(engine, proxies);
			}
		}
	}

	private static void refuse(Container container, List<String> proxies) {
		for (Valve valve : container.getPipeline().getValves()) {
			if (valve instanceof RemoteIpValve) {
				throw new InvalidConfigurationPropertyValueException("ratelimit.ip.trusted-proxies", proxies,
						"Code has added a RemoteIpValve to Tomcat's %s '%s'. It replaces addresses by what a header says, before the proxies can be looked at, so that clients could choose by which address they are counted: remove it."
							.formatted(kind(container), container.getName()));
			}
		}
		for (Container child : container.findChildren()) {
			refuse(child, proxies);
		}
	}

	private static String kind(Container container) {
		if (container instanceof Engine) {
			return "engine";
		}
		return (container instanceof Host) ? "host" : "context";
	}

}
