package io.github.ratelimit.spring.config.diagnosis;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.ratelimit.spring.PlanResolver;
import io.github.ratelimit.spring.StartFailure;
import io.github.ratelimit.spring.StarterRunners;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.test.context.runner.AbstractApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.core.io.ByteArrayResource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Settings that cannot be enforced stop the start, with the name of the property, its
 * value and the rule.
 */
class StartFailuresTests {

	private final WebApplicationContextRunner runner = StarterRunners.web();

	/**
	 * Names are below {@code ratelimit}, those of {@code api} below that policy. What is
	 * said of a {@code SERVER} holds for that of the library, and for that of Spring.
	 */
	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					api.limits=10/s,often | api.limits | often | Invalid limit (often): must be quota/window, such as 10/s, 100/15m or 10/500ms; the units are ms, s, m, h and d.
					api.paths=/api/** | api.limits |  | A policy must have at least one limit, such as 100/m, or concurrent, such as 5.
					api.limits=10/m,20/60s | api.limits | [10/m, 20/60s] | Invalid limits [10/m, 20/m]: there must be only one limit for the window m.
					api.limits=10/s;api.identifiers=ip,ip | api.identifiers | [ip, ip] | Invalid identifiers [ip, ip]: there must be at least one, and no duplicates.
					api.limits=10/s;api.paths=/x,api | api.paths | api | Invalid path (api): must be a pattern such as /api/** or GET /user/**.
					api.limits=10/s;api.paths=FETCH /api | api.paths | FETCH /api | Invalid path (FETCH /api): FETCH is no HTTP method.
					api.limits=10/s;api.paths=get /api | api.paths | get /api | Invalid path (get /api): get is no HTTP method.
					api.limits=10/s;api.cost=11;api.paths=/api | api.cost | 11 | Invalid cost (11): the limit 10/s would never allow it.
					api.limits=10/s;api.cost=2 | api.cost | 2 | Has no effect without paths.
					api.limits=10/s;api.routes[0].cost=-1;api.routes[0].paths=/api | api.routes[0].cost | -1 | Invalid cost (-1): must not be negative.
					api.limits=10/s;api.routes[0].cost=1 | api.routes[0].paths |  | A route must have at least one path. A source that sets a part of a list replaces the whole list.
					api.limits=10/s;api.burst=5 | api.burst | 5 | Is an option of token-bucket, but the algorithm of this policy is sliding-window: change the algorithm, or remove the option.
					api.limits=10/s;api.precision=1s;api.algorithm=fixed-window | api.precision | PT1S | Is an option of sliding-window, but the algorithm of this policy is fixed-window: change the algorithm, or remove the option.
					api.limits=10/s;api.burst=0;api.algorithm=token-bucket | api.burst | 0 | Invalid burst (0): must be from 1 to 94906265 tokens.
					api.limits=10/s;api.retain=0;api.algorithm=fixed-window | api.retain | 0 | Invalid retain (0): must be between 1 and 1000 windows.
					api.limits=10/s;api.previous-weight=1.5;api.algorithm=sliding-tail | api.previous-weight | 1.5 | Invalid previous weight (1.5): must be between 0 and 1.
					api.limits=10/s;api.penalty.after=3;api.penalty.within=1m | api.penalty | * | A penalty needs after, within and block, such as after: 20, within: 1m, block: 15m.
					api.limits=10/s;api.penalty.mode=shadow | api.penalty | * | A penalty needs after, within and block, such as after: 20, within: 1m, block: 15m.
					api.limits=10/s;api.penalty.after=0;api.penalty.within=1m;api.penalty.block=1m | api.penalty | * | Invalid number of denials (0): must be from 1 to 1000000.
					api.limits=10/s;api.penalty.after=1;api.penalty.within=0;api.penalty.block=1m | api.penalty | * | Invalid within (PT0S): must be whole milliseconds, from 1ms to 3650d.
					api.limits=10/s;api.penalty.after=1;api.penalty.within=1m;api.penalty.block=3651d | api.penalty | * | Invalid block (PT87624H): must be whole milliseconds, from 1ms to 3650d.
					api.limits=10/s;api.penalty.after=1;api.penalty.within=1m;api.penalty.block=5m;api.penalty.up-to=4m | api.penalty | * | Invalid up-to (PT4M): must be at least as long as the first block (PT5M).
					api.limits=10/s,100/m;api.burst=5;api.algorithm=token-bucket | api.burst | 5 | Invalid burst (5): with a burst, a policy must have one limit, but has [10/s, 100/m]; use two policies, or remove the burst.
					api.limits=10/s;api.identifiers=ip,address | api.identifiers | address | Invalid identifier (address): must be ip, user, header:NAME, cookie:NAME, query:NAME, path, method, global, or several of them joined by '+'.
					api.limits=10/s;api.identifiers=ip,header:X User | api.identifiers | header:X User | Invalid identifier (header:X User): must be ip, user, header:NAME, cookie:NAME, query:NAME, path, method, global, or several of them joined by '+'.
					api.limits=10/s;api.identifiers=ip,+ | api.identifiers | + | Invalid identifier (+): must be ip, user, header:NAME, cookie:NAME, query:NAME, path, method, global, or several of them joined by '+'.
					api.limits=10/s;api.penalty.after=3;api.penalty.within=1m;api.penalty.block=2m;api.identifiers=ip,global | api.penalty | * | Invalid identifier (global): the penalty would block all clients at once; use identifiers that tell clients apart, such as ip or user.
					api.limits=10/s;api.penalty.after=3;api.penalty.within=1m;api.penalty.block=2m;api.identifiers=path+method | api.penalty | * | Invalid identifier (path+method): the penalty would block all clients at once; use identifiers that tell clients apart, such as ip or user.
					api.limits=10/s;api.penalty.after=3;api.penalty.within=1m;api.penalty.block=2m;api.missing-identifier=global | api.penalty | * | Invalid identifier (global): the penalty would block all clients at once; use identifiers that tell clients apart, such as ip or user.
					api.limits=10/s;api.algorithm=guess | api.algorithm | guess | Invalid algorithm (guess): must be one of fixed-window, first-request-window,
					api.limits=10/s;api.paths=/{a | api.paths | /{a | Invalid path (/{a):
					key-prefix=a b | key-prefix | a b | Invalid key prefix (a b): must be
					redis.scripting=false;api.limits=10/s;api.algorithm=sliding-log | api.algorithm | sliding-log | Invalid algorithm (sliding-log): must be one of fixed-window, first-request-window, sliding-window, sliding-window-counter where scripts are not used.
					redis.scripting=false;api.limits=10/s;api.algorithm=fixed-window;api.retain=3 | api.algorithm | fixed-window | Invalid retain (3): no past windows can be kept where scripts are not used.
					redis.scripting=false;api.limits=10/s;api.penalty.after=3;api.penalty.within=1m;api.penalty.block=2m | api.penalty | Penalty[after=3, within=PT1M, block=PT2M, upTo=PT2M, shadow=false] | Invalid policy (api): the store does not support penalties.
					redis.scripting=false;api.limits=10/s;api.algorithm=fixed-window;api.lease=1s | api.lease | PT1S | Invalid lease (PT1S): needs scripting, because plain commands cannot cancel a reservation.
					api.limits=10/s;api.lease=1s | api.lease | PT1S | Invalid lease (PT1S): sliding-window does not support leases; use fixed-window or first-request-window.
					api.limits=10/s;api.algorithm=fixed-window;api.lease=99ms | api.lease | PT0.099S | Invalid lease (PT0.099S): must be from 100ms to 1m.
					api.limits=10/s;api.algorithm=fixed-window;api.lease=61s | api.lease | PT1M1S | Invalid lease (PT1M1S): must be from 100ms to 1m.
					api.limits=10/s;api.algorithm=fixed-window;api.lease=1s;api.count-denied=true | api.lease | PT1S | Invalid lease (PT1S): must not be combined with count-denied, because a part that is denied would count.
					defaults.identifiers=address | defaults.identifiers | address | Invalid identifier (address): must be ip, user, header:NAME, cookie:NAME, query:NAME, path, method, global, or several of them joined by '+'.
					defaults.identifiers= | defaults.identifiers | [] | There must be at least one identifier, such as ip, and no duplicates.
					policies[größe].limits=10/s | policies[größe] | größe | Invalid policy name (größe): must be 1 to 128 printable ASCII characters other than '/'.
					policies[api (at once)].limits=10/s | policies[api (at once)] | api (at once) | Invalid policy name (api (at once)): must not end with ' (at once)', which names the calls that run at once.
					api.concurrent=0 | api.concurrent | 0 | Must be from 1 to 1000.
					api.concurrent=1001 | api.concurrent | 1001 | Must be from 1 to 1000.
					api.limits=10/s;api.concurrent=-1 | api.concurrent | -1 | Must be from 1 to 1000.
					api.concurrent=5;api.concurrent-lease=999ms | api.concurrent-lease | PT0.999S | Must be from 1s to 1d.
					api.concurrent=5;api.concurrent-lease=25h | api.concurrent-lease | PT25H | Must be from 1s to 1d.
					api.limits=10/s;api.concurrent-lease=1m | api.concurrent-lease | PT1M | Has no effect without concurrent.
					api.concurrent=5;longest-call=999ms | longest-call | PT0.999S | Must be from 1s to 1d.
					api.concurrent=5;longest-call=25h | longest-call | PT25H | Must be from 1s to 1d.
					api.concurrent=5;api.algorithm=sliding-log | api.algorithm | sliding-log | Has no effect without limits.
					api.concurrent=5;api.paths=/a;api.cost=2 | api.cost | 2 | Has no effect without limits.
					api.concurrent=5;api.unit=bytes | api.unit | bytes | Has no effect without limits.
					api.concurrent=5;api.count-denied=true | api.count-denied | true | Has no effect without limits.
					api.concurrent=5;api.count-when=status in [401] | api.count-when | status in [401] | Has no effect without limits.
					api.concurrent=5;api.plans.pro.limits=5/s | api.plans | [pro] | Has no effect without limits.
					api.concurrent=5;api.burst=9 | api.burst | 9 | Has no effect without limits.
					redis.scripting=false;api.limits=10/s;api.concurrent=5 | api.concurrent | 5 | Invalid algorithm (concurrent-calls): must be one of fixed-window, first-request-window, sliding-window, sliding-window-counter where scripts are not used.
					api.limits=10/s;api.algorithm=concurrent-calls | api.algorithm | concurrent-calls | Invalid algorithm (concurrent-calls): must be one of fixed-window, first-request-window, sliding-log, sliding-window, sliding-window-counter, leaky-bucket, token-bucket.
					headers.styles=loud | headers.styles | loud | Invalid header style (loud): must be one of draft, x-rate-limit, x-ratelimit, or none alone.
					denial-cache.max-age=0 | denial-cache.max-age | PT0S | Invalid maximum age (PT0S): must be from 1ms to 3650d.
					denial-cache.max-age=-1s | denial-cache.max-age | PT-1S | Invalid maximum age (PT-1S): must be from 1ms to 3650d.
					denial-cache.max-age=3651d | denial-cache.max-age | PT87624H | Invalid maximum age (PT87624H): must be from 1ms to 3650d.
					denial-cache.max-size=0 | denial-cache.max-size | 0 | Invalid maximum size (0): must be at least 1.
					instances=-1 | instances | -1 | Must be at least 1.
					instances=0 | instances | 0 | Must be at least 1.
					redis.timeout=0 | redis.timeout | PT0S | Must be from 2ms to 1h.
					redis.timeout=1ms | redis.timeout | PT0.001S | Must be from 2ms to 1h.
					redis.timeout=-5s | redis.timeout | PT-5S | Must be from 2ms to 1h.
					redis.timeout=60d | redis.timeout | PT1440H | Must be from 2ms to 1h.
					redis.connections=0 | redis.connections | 0 | Must be from 1 to 64.
					redis.connections=65 | redis.connections | 65 | Must be from 1 to 64.
					redis.max-waiting=0 | redis.max-waiting | 0 | Must be at least 1.
					redis.host=a;redis.database=-1 | redis.database | -1 | Must not be negative.
					redis.cluster.nodes=a:1;redis.url=redis://:se@a | redis.url | redis://***@a | Has no effect together with ratelimit.redis.cluster.nodes: remove one of them.
					redis.cluster.nodes=a:1;redis.host=a | redis.host | a | Has no effect together with ratelimit.redis.cluster.nodes: remove one of them.
					redis.cluster.nodes=a:1;redis.sentinel.master=main | redis.cluster.nodes | [a:1] | Cannot be combined with ratelimit.redis.sentinel: remove one of them.
					redis.cluster.nodes=a:1;redis.port=6380 | redis.port | 6380 | Has no effect together with ratelimit.redis.cluster.nodes: remove one of them.
					redis.sentinel.master=main;redis.sentinel.nodes=a:1;redis.url=redis://a | redis.url | redis://a | Has no effect together with ratelimit.redis.sentinel: remove one of them.
					redis.sentinel.master=main;redis.sentinel.nodes=a:1;redis.host=a | redis.host | a | Has no effect together with ratelimit.redis.sentinel: remove one of them.
					redis.sentinel.master=main;redis.sentinel.nodes=a:1;redis.port=6380 | redis.port | 6380 | Has no effect together with ratelimit.redis.sentinel: remove one of them.
					redis.cluster.nodes=a:1;redis.database=3 | redis.database | 3 | Must be 0, because a cluster has no other database.
					redis.cluster.nodes=a:1;redis.host=${NOT_SET:} | redis.host | `` | Must not be empty: name the server, or remove it.
					spring.data.redis.masterreplica.nodes=a:1,b:1 | spring.data.redis.masterreplica.nodes | a:1,b:1 | Rate limits need a single Redis server, sentinels or a cluster: set ratelimit.redis.url, or name a UnifiedJedis bean in ratelimit.redis.client.
					redis.host=a;redis.ssl.bundle=mine;redis.ssl.enabled=false | redis.ssl.bundle | mine | Has an effect only with encryption, which ratelimit.redis.ssl.enabled switches off.
					api.limits=10/m;api.paths=/api/**;plan='a';api.plans.pro.unlimited=false | api.plans.pro | * | Is an empty plan: give it limits, such as 100/m, or unlimited: true.
					api.limits=10/m;api.paths=/api/**;plan='a';api.plans.pro.unlimited=true;api.plans.pro.limits=1/m | api.plans.pro | * | Has limits, but is unlimited as well: remove one of them.
					api.limits=10/m;api.paths=/api/**;plan='a';api.plans.pro.unlimited=true;api.plans.pro.burst=9 | api.plans.pro | * | Has a burst, but is unlimited as well: remove one of them.
					api.limits=10/m;api.paths=/api/**;plan='a';api.plans.pro.burst=9 | api.plans.pro | * | Is an empty plan
					api.limits=10/m;api.paths=/api/**;plan='a';api.plans.pro.limits=1/m;api.plans.pro.burst=9 | api.plans.pro.burst | * | Is an option of token-bucket, but the algorithm of this policy is sliding-window
					api.limits=10/m;api.paths=/api/**;plan='a';api.algorithm=token-bucket;api.plans.pro.limits=1/m;api.plans.pro.burst=0 | api.plans.pro.burst | * | Invalid burst (0): must be from 1 to
					api.limits=10/m;api.paths=/api/**;plan='a';api.algorithm=token-bucket;api.plans.pro.limits=1/m,2/h;api.plans.pro.burst=9 | api.plans.pro.burst | * | with a burst, a policy must have one limit
					api.limits=10/m;api.paths=/api/**;plan='a';api.algorithm=token-bucket;api.cost=5;api.plans.pro.limits=20/m;api.plans.pro.burst=4 | api.cost | * | Invalid cost (5): the limit 20/m of the plan 'pro' would never allow it.
					api.limits=10/m;api.paths=/api/**;plan='a';api.plans.pro.limits=often | api.plans.pro.limits | * | Invalid limit (often): must be quota/window
					api.limits=10/m;api.paths=/api/**;plan='a';api.plans.pro.limits=1/m,2/m | api.plans.pro.limits | * | there must be only one limit for the window m.
					api.limits=10/m;api.paths=/api/**;plan='a';api.plans.pro.limits=300000000000/m | api.plans.pro.limits | * | the quota must be at most 274877906944 for sliding-window.
					api.limits=10/m;api.paths=/api/**;plan='a';api.cost=5;api.plans.pro.limits=4/m | api.cost | * | Invalid cost (5): the limit 4/m of the plan 'pro' would never allow it.
					api.limits=10/m;api.paths=/api/**;plan='a';api.plans[A b].limits=often | api.plans[A b].limits | * | Invalid limit (often)
					api.limits=10/m;api.paths=/api/**;api.plans.pro.limits=4/m | api.plans | * | The plans of users are unknown: set ratelimit.plan, or provide a PlanResolver bean.
					api.limits=10/m;api.paths=/api/**;plan=#who;api.plans.pro.limits=4/m | plan | * | Invalid expression (#who): #who is not allowed
					api.limits=10/m;api.paths=/api/**;plan=;api.plans.pro.limits=4/m | plan | * | Invalid expression (): is empty; in YAML, # begins a comment unless the expression is in quotes.
					api.limits=10/m;api.paths=/api/**;plan=(;api.plans.pro.limits=4/m | plan | * | EL1044E: Unexpectedly ran out of input
					api.limits=10/m;api.paths=/api/**;plan='a';api.plans.pro.limits=4/m;plan-cache-ttl=-1s | plan-cache-ttl | * | Must be from 0 to 1d.
					api.limits=10/m;api.paths=/api/**;plan='a';api.plans.pro.limits=4/m;plan-cache-ttl=2d | plan-cache-ttl | * | Must be from 0 to 1d.
					SERVER.url=nonsense | SERVER.url | * | Must be a URL such as redis://user:password@example.com:6379/0, or rediss:// for encryption
					SERVER.url= | SERVER.url | `` | Must not be empty: name the server, or remove it.
					SERVER.host= | SERVER.host | `` | Must not be empty: name the server, or remove it.
					SERVER.url=${NOT_SET: } | SERVER.url | ` ` | Must not be empty: name the server, or remove it.
					SERVER.host=${NOT_SET: } | SERVER.host | ` ` | Must not be empty: name the server, or remove it.
					SERVER.url=${NOT_SET:};SERVER.cluster.nodes=a:1 | SERVER.url | `` | Must not be empty: name the server, or remove it.
					SERVER.host=a;SERVER.port=-1 | SERVER.port | -1 | Must be from 1 to 65535.
					SERVER.host=a;SERVER.port=0 | SERVER.port | 0 | Must be from 1 to 65535.
					SERVER.host=a;SERVER.port=65536 | SERVER.port | 65536 | Must be from 1 to 65535.
					SERVER.cluster.nodes= | SERVER.cluster.nodes | [] | Must name nodes of the cluster, such as example.com:6379.
					SERVER.sentinel.master=main | SERVER.sentinel.nodes | [] | Must name the sentinels, such as example.com:26379.
					SERVER.sentinel.nodes=a:1 | SERVER.sentinel.master |  | Must be the name of the master that the sentinels monitor.
					SERVER.sentinel.nodes=a:1;SERVER.sentinel.master= | SERVER.sentinel.master | `` | Must be the name of the master that the sentinels monitor.
					SERVER.host=a;SERVER.ssl.bundle=mine | SERVER.ssl.bundle | mine | Must be the name of an SSL bundle below spring.ssl.bundle.
					SERVER.client-name=my app | SERVER.client-name | my app | Must contain only printable ASCII characters, and no spaces.
					SERVER.client-name=a\tb | SERVER.client-name | a\tb | Must contain only printable ASCII characters, and no spaces.
					SERVER.client-name=café | SERVER.client-name | café | Must contain only printable ASCII characters, and no spaces.
					SERVER.url=redis:// | SERVER.url | * | Must be a URL such as redis://user:password@example.com:6379/0, or rediss:// for encryption
					SERVER.url=http://example.com:6379 | SERVER.url | * | Must be a URL such as redis://user:password@example.com:6379/0, or rediss:// for encryption
					SERVER.url=redis://example.com:99999 | SERVER.url | * | Must be a URL such as redis://user:password@example.com:6379/0, or rediss:// for encryption
					SERVER.url=redis://h/abc | SERVER.url | * | Must be a URL such as redis://user:password@example.com:6379/0, or rediss:// for encryption
					SERVER.url=redis://h/-1 | SERVER.url | * | Must be a URL such as redis://user:password@example.com:6379/0, or rediss:// for encryption
					SERVER.url=redis://h/1/2 | SERVER.url | * | Must be a URL such as redis://user:password@example.com:6379/0, or rediss:// for encryption
					SERVER.url=redis://h:1#x | SERVER.url | * | Must be a URL such as redis://user:password@example.com:6379/0, or rediss:// for encryption
					redis.url=redis://a:6379?db=3 | redis.url | redis://a:6379?*** | no parameters
					redis.url=redis://a:6379/0? | redis.url | redis://a:6379/0?*** | no parameters
					redis.url=redis://a?password=cret | redis.url | redis://a?*** | no parameters
					SERVER.url=redis://user:se/cret@a | SERVER.url | redis://***@a | percent-encoded
					SERVER.url=redis://:se#cret@a | SERVER.url | redis://***@a | percent-encoded
					SERVER.url=redis://u:1?cret@a | SERVER.url | redis://***@a | percent-encoded
					SERVER.url=redis://:100%cret@a | SERVER.url | redis://***@a | percent-encoded
					SERVER.url=redis://u:s@cret@a | SERVER.url | redis://***@a | percent-encoded
					SERVER.url=redis://my_redis | SERVER.url | redis://my_redis | .host
					SERVER.url=redis://a:1,b:2 | SERVER.url | redis://a:*** | .cluster.nodes
					SERVER.cluster.nodes=b:1,a | SERVER.cluster.nodes | a | Must be a host and a port, such as example.com:6379.
					SERVER.cluster.nodes=b:1,a:65536 | SERVER.cluster.nodes | a:65536 | Must be a host and a port, such as example.com:6379.
					SERVER.cluster.nodes=b:1,a:b | SERVER.cluster.nodes | a:b | Must be a host and a port, such as example.com:6379.
					SERVER.cluster.nodes=b:1,a:b:1 | SERVER.cluster.nodes | a:b:1 | Must be a host and a port, such as example.com:6379.
					SERVER.cluster.nodes=b:1,[::1 | SERVER.cluster.nodes | [::1 | Must be a host and a port, such as example.com:6379.
					SERVER.cluster.nodes=b:1,redis://a:1 | SERVER.cluster.nodes | redis://a:1 | Must be a host and a port, such as example.com:6379.
					redis.sentinel.master=main;redis.sentinel.nodes=b:1,a | redis.sentinel.nodes | a | Must be a host and a port, such as example.com:26379.
					redis.sentinel.master=main;redis.sentinel.nodes=b:1,a:65536 | redis.sentinel.nodes | a:65536 | Must be a host and a port, such as example.com:26379.
					redis.sentinel.master=main;redis.sentinel.nodes=b:1,http://a:1 | redis.sentinel.nodes | http://a:1 | Must be a host and a port, such as example.com:26379.
					redis.url=redis://a.example.com:6380;redis.host=b.example.com | redis.host | b.example.com | Has no effect together with ratelimit.redis.url (redis://a.example.com:6380), which contains the host and port: remove one of them.
					redis.url=redis://a.example.com:6380;redis.port=6381 | redis.port | 6381 | Has no effect together with ratelimit.redis.url (redis://a.example.com:6380), which contains the host and port: remove one of them.
					redis.url=redis://a;redis.port=6379 | redis.port | 6379 | Has no effect together with ratelimit.redis.url (redis://a), which contains the host and port: remove one of them.
					redis.url=rediss://user:s%2Fecret@a:1/3;redis.host=b | redis.host | b | Has no effect together with ratelimit.redis.url (rediss://***@a:1/3), which contains the host and port: remove one of them.
					redis.url=redis://user:sec@a;redis.username=anna | redis.username | anna | Has no effect together with ratelimit.redis.url (redis://***@a), which contains a login: remove one of them.
					redis.url=redis://sec@a;redis.username=anna | redis.username | anna | Has no effect together with ratelimit.redis.url (redis://***@a), which contains a login: remove one of them.
					redis.url=redis://:sec@a;redis.password=sec | redis.password | *** | Has no effect together with ratelimit.redis.url (redis://***@a), which contains a login: remove one of them.
					redis.url=redis://a/3;redis.database=3 | redis.database | 3 | Has no effect together with ratelimit.redis.url (redis://a/3), which contains a database: remove one of them.
					redis.url=redis://u:sec@a:1/2;redis.database=0 | redis.database | 0 | Has no effect together with ratelimit.redis.url (redis://***@a:1/2), which contains a database: remove one of them.
					redis.url=rediss://a;redis.ssl.enabled=false | redis.ssl.enabled | false | Has no effect together with ratelimit.redis.url (rediss://a), which requires encryption: remove one of them.
					spring.data.redis.host=example.com;redis.port=6380 | redis.port | 6380 | Has an effect only with ratelimit.redis.host, ratelimit.redis.url, ratelimit.redis.sentinel.master or ratelimit.redis.cluster.nodes: set one of them.
					spring.data.redis.host=example.com;redis.username=anna | redis.username | anna | Has an effect only with ratelimit.redis.host, ratelimit.redis.url, ratelimit.redis.sentinel.master or ratelimit.redis.cluster.nodes: set one of them.
					spring.data.redis.host=example.com;redis.password=secret | redis.password | *** | Has an effect only with ratelimit.redis.host, ratelimit.redis.url, ratelimit.redis.sentinel.master or ratelimit.redis.cluster.nodes: set one of them.
					spring.data.redis.host=example.com;redis.database=3 | redis.database | 3 | Has an effect only with ratelimit.redis.host, ratelimit.redis.url, ratelimit.redis.sentinel.master or ratelimit.redis.cluster.nodes: set one of them.
					spring.data.redis.host=example.com;redis.ssl.enabled=true | redis.ssl.enabled | true | Has an effect only with ratelimit.redis.host, ratelimit.redis.url, ratelimit.redis.sentinel.master or ratelimit.redis.cluster.nodes: set one of them.
					spring.data.redis.host=example.com;redis.ssl.bundle=mine | redis.ssl.bundle | mine | Has an effect only with ratelimit.redis.host, ratelimit.redis.url, ratelimit.redis.sentinel.master or ratelimit.redis.cluster.nodes: set one of them.
					{ plan: "'a'", policies: { a: { limits: 1/s, plans: { pro_plus: { limits: 3/m }, pro-plus: { limits: 9/m } } } } } | policies.a.plans.pro-plus | * | Is the same name to Spring Boot as 'ratelimit.policies.a.plans[pro_plus]'
					{ plan: "'a'", policies: { a: { limits: 1/s, plans: { Pro: { limits: 3/m }, pro: { limits: 9/m } } } } } | policies.a.plans.pro | * | or write it in brackets and quotes: "[pro]".
					{ plan: "'a'", policies: { a: { limits: 1/s, plans: { free tier: { limits: 3/m } } } } } | policies.a.plans.free tier | * | write the name in brackets and quotes, as in "[free tier]".
					{ plan: "'a'", policies: { a: { limits: 1/s, plans: { größe: { unlimited: true } } } } } | policies.a.plans.größe | * | as in "[größe]".
					{ plan: "'a'", policies: { a: { limits: 1/s, plans: { a/b: { unlimited: true } } } } } | policies.a.plans.a/b | * | as in "[a/b]".
					{ plan: "'a'", policies: { a: { limits: 1/s, plans: { -a: { unlimited: true } } } } } | policies.a.plans.-a | * | as in "[-a]".
					{ plan: "'a'", policies: { a: { limits: 1/s, plans: { NO: { limits: 3/m } } } } } | policies.a.plans[false] | * | write such a name in quotes, as in "NO".
					{ plan: "'a'", policies: { a: { limits: 1/s, plans: { on: { limits: 3/m } } } } } | policies.a.plans[true] | * | write such a name in quotes, as in "NO".
					{ policies: { free tier: { limits: 1/s } } } | policies.free tier | * | as in "[free tier]".
					{ policies: { no: { limits: 1/s } } } | policies[false] | * | write such a name in quotes, as in "NO".
					{ identifiers: { tenant id: "#request.method" } } | identifiers.tenant id | * | as in "[tenant id]".
					{ identifiers: { off: "#request.method" } } | identifiers[false] | * | write such a name in quotes
					{ identifiers: { my_tenant: "#request.method", my-tenant: "#request.scheme" } } | identifiers.my-tenant | * | Is the same name to Spring Boot as 'ratelimit.identifiers[my_tenant]'
					defaults.algorithm=guess | defaults.algorithm | guess | Invalid algorithm (guess): must be one of
					defaults.identifiers=ip,ip | defaults.identifiers | [ip, ip] | There must be at least one identifier, such as ip, and no duplicates.
					api.limits=1/m;defaults.missing-identifier=nobody | defaults.missing-identifier | nobody | Must be skip, deny, or an identifier. Invalid identifier (nobody)
					api.limits=1/m;redis.scripting=false;defaults.algorithm=sliding-log | defaults.algorithm | sliding-log | where scripts are not used
					headers.styles=none,draft | headers.styles | [none, draft] | Must be none, or a list of styles.
					policies[a/b].limits=1/s | policies[a/b] | a/b | Invalid policy name (a/b): must be 1 to 128 printable ASCII characters other than '/'
					""")
	void startFailsWithPropertyAndValueAndRule(String settings, String property, @Nullable String value, String rule) {
		for (String server : settings.contains("SERVER.") ? List.of("redis.", "spring.data.redis.") : List.of("")) {
			assertRefused(this.runner, settings.replace("SERVER.", server), property.replace("SERVER.", server), value,
					rule);
		}
	}

	@Test
	void startFailsWhenPolicyHasMoreLimitsThanOneCallDecides() {
		String limits = IntStream.rangeClosed(1, 20).mapToObj((i) -> "9/" + i + "m").collect(Collectors.joining(","));
		List<String> thirteen = IntStream.rangeClosed(1, 13).mapToObj((i) -> "header:X-" + i).toList();
		String identifiers = ";api.identifiers=" + String.join(",", thirteen);
		String rule = "20 limits%s for each of 13 identifiers are %d; there must be at most 256.";
		assertRefused(this.runner, "api.limits=" + limits + identifiers, "api.identifiers", thirteen.toString(),
				"Invalid policy (api): " + rule.formatted("", 260));
		assertRefused(this.runner, "api.limits=" + limits + ";api.concurrent=5" + identifiers, "api.identifiers",
				thirteen.toString(), "Invalid policy (api): " + rule.formatted(" and concurrent calls", 273));
		assertRefused(this.runner, "plan='a';api.limits=1/m;api.plans.pro.limits=" + limits + identifiers,
				"api.identifiers", thirteen.toString(),
				"Invalid policy (api) of the plan 'pro': " + rule.formatted("", 260));
		with(this.runner, "api.limits=" + limits + ";api.concurrent=5" + identifiers.replace(",header:X-13", ""))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@ValueSource(strings = { "http://user:se%cret@example.com:6379", "http://user:se/cret@example.com:6379",
			"redis://user:se@cret@:6379", "redis://user:se#cret@example.com:6379", "redis://user:se cret@example.com:1",
			"redis:user:secret@example.com:1", "redis://pa#secret@example.com" })
	void messageDoesNotHoldPasswordWhenUrlIsWrong(String url) {
		with(this.runner, "redis.url=" + url).run((context) -> {
			assertThat(String.valueOf(StartFailure.refusal(context).getValue())).contains("***");
			assertThat(context).getFailure().satisfies((failure) -> {
				StringWriter trace = new StringWriter();
				failure.printStackTrace(new PrintWriter(trace));
				assertThat(trace.toString()).doesNotContain("cret", "user:se");
			});
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "redis.", "spring.data.redis." })
	void startFailsWhenBundleIsNotAmongThoseOfSpring(String server) {
		assertRefused(this.runner.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class)),
				server + "host=a;" + server + "ssl.bundle=mine", server + "ssl.bundle", "mine",
				"Must be the name of an SSL bundle below spring.ssl.bundle.");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			api.paths=/a            | api.paths           | [/a]
			api.routes[0].paths=/a  | api.routes          | [RouteSettings[paths=[/a], cost=1]]
			api.when=#request.secure | api.when           | #request.secure
			api.count-when=status in [401] | api.count-when | status in [401]
			api.plans.pro.limits=4/m | api.plans          | [pro]
			api.missing-identifier=deny | api.missing-identifier | deny
			defaults.missing-identifier=deny | defaults.missing-identifier | deny
			plan='a'                | plan                | ***
			exclude=/a              | exclude             | ***
			allow=header:A:b        | allow               | ***
			deny=header:A:b         | deny                | ***
			identifiers.a=#request.method | identifiers   | ***
			ip.trusted-proxies=10.0.0.1 | ip.trusted-proxies | [10.0.0.1]
			""")
	void startFailsWhenThereAreNoRequests(String setting, String property, String value) {
		assertRefused(StarterRunners.nonWeb(), "defaults.identifiers=global;api.limits=9/m;" + setting, property, value,
				"Has an effect only in a Servlet web application.");
	}

	@Test
	void startFailsWhenThereAreSeveralPlanResolvers() {
		WebApplicationContextRunner bean = this.runner.withBean("one", PlanResolver.class,
				() -> (user, request) -> "pro");
		bean.withBean("other", PlanResolver.class, () -> (user, request) -> "pro")
			.run((context) -> assertThat(context).getFailure().hasMessageContaining("expected single matching bean"));
		assertRefused(bean, "plan='a';api.limits=9/m;api.plans.pro.limits=4/m", "plan", "'a'",
				"There is a PlanResolver bean as well (");
	}

	@Test
	void clusterOfSpringDoesNotMatterWhenServerIsNamed() {
		with(this.runner, "spring.data.redis.cluster.nodes=a:1;redis.url=redis://localhost:1")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	private static void assertRefused(AbstractApplicationContextRunner<?, ?, ?> runner, String settings,
			String property, @Nullable String value, String rule) {
		with(runner, settings).run((context) -> {
			InvalidConfigurationPropertyValueException refusal = StartFailure.refusal(context);
			assertThat(refusal.getName()).isEqualTo(name(property));
			assertThat(refusal.getReason()).contains(rule);
			if (!"*".equals(value)) {
				assertThat(Objects.toString(refusal.getValue(), null)).isEqualTo(value);
			}
		});
	}

	private static <S extends AbstractApplicationContextRunner<S, ?, ?>> S with(
			AbstractApplicationContextRunner<S, ?, ?> runner, String settings) {
		return settings.startsWith("{") ? runner.withInitializer((context) -> {
			try {
				new YamlPropertySourceLoader()
					.load("file", new ByteArrayResource(("ratelimit: " + settings).getBytes(StandardCharsets.UTF_8)))
					.forEach(context.getEnvironment().getPropertySources()::addLast);
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}) : runner.withPropertyValues(
				Arrays.stream(settings.split(";")).map(StartFailuresTests::name).toArray(String[]::new));
	}

	private static String name(String property) {
		return property.startsWith("spring.") ? property
				: "ratelimit." + (property.startsWith("api.") ? "policies." : "") + property;
	}

}
