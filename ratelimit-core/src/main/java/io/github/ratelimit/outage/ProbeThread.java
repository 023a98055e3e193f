package io.github.ratelimit.outage;

import java.time.Duration;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A thread for probes, which is there only while there are any, and ends when it is
 * closed: one that is shared with the whole Java process would keep the class loader of
 * an application that is stopped.
 */
final class ProbeThread implements Later {

	private final Duration pause;

	private final ScheduledThreadPoolExecutor executor;

	ProbeThread(Duration pause) {
		this.pause = pause;
		this.executor = new ScheduledThreadPoolExecutor(1, (probes) -> {
			Thread thread = new Thread(probes, "ratelimit-probe");
			thread.setDaemon(true);
			return thread;
		}, new ThreadPoolExecutor.DiscardPolicy());
		this.executor.setKeepAliveTime(pause.toMillis() * 2, TimeUnit.MILLISECONDS);
		this.executor.allowCoreThreadTimeOut(true);
		this.executor.setRemoveOnCancelPolicy(true);
	}

	@Override
	@SuppressWarnings("FutureReturnValueIgnored")
	public void execute(Runnable probe) {
		this.executor.schedule(probe, this.pause.toMillis(), TimeUnit.MILLISECONDS);
	}

	@Override
	public void close() {
		this.executor.shutdownNow();
	}

}
