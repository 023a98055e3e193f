/* When which client sends a request. */

export const PRESETS = {
	steady: {
		text: 'One request at a time, at twice the rate of the limit.',
		rate: 1, burst: 1, cost: 1, clients: 1,
	},
	burst: {
		text: 'A pause, then eight requests at once.',
		rate: 1, burst: 8, cost: 1, clients: 1,
	},
	edge: {
		text: 'One request early in a window, most of the quota just before the end of the window, and a full quota just after: twice the quota if the algorithm allows it.',
		rate: 0.5, burst: 5, cost: 1, clients: 1, edge: true,
	},
	clients: {
		text: 'Five clients in turn. Each has its own quota.',
		rate: 5, burst: 1, cost: 1, clients: 5,
	},
};

/** Sends requests according to the settings, from start() to stop(). Settings may change in between. */
export class Stream {

	#timer;

	/**
	 * @param settings rate (requests per second), burst, clients, and edge
	 * @param limit quota, and window in milliseconds
	 * @param send is called with the number of a client for each request
	 */
	constructor(settings, limit, send) {
		this.settings = settings;
		this.limit = limit;
		this.send = send;
		this.sent = 0;
	}

	get running() {
		return this.#timer !== undefined;
	}

	start() {
		this.#schedule(this.settings.edge ? this.#nextEdge() : { wait: 0, size: this.settings.burst });
	}

	stop() {
		clearTimeout(this.#timer);
		this.#timer = undefined;
	}

	#schedule({ wait, size }) {
		this.#timer = setTimeout(() => {
			for (let i = 0; i < size; i++) {
				this.send(this.sent++ % this.settings.clients);
			}
			const { rate, burst, edge } = this.settings;
			this.#schedule(edge ? this.#nextEdge() : { wait: burst / rate * 1000, size: burst });
		}, wait);
	}

	/** Windows are aligned to the epoch, so this clock knows when they end if it agrees with that of the server. */
	#nextEdge() {
		const { quota, window } = this.limit;
		const steps = [
			{ at: 0.02 * window, size: 1 },
			{ at: 0.94 * window, size: quota - 1 },
			{ at: 1.04 * window, size: quota },
		];
		const now = Date.now() % (2 * window);
		const step = steps.find(({ at }) => at > now + 20) ?? { ...steps[0], at: steps[0].at + 2 * window };
		return { wait: step.at - now, size: step.size };
	}

}
