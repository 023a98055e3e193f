import { policies } from './actuator.js';
import { ALGORITHMS } from './algorithms.js';
import { Inside } from './inside.js';
import { Lane } from './lane.js';
import { PRESETS, Stream } from './stream.js';
import { newClient } from './tile.js';

const SLIDERS = {
	rate: (value) => `${value}/s`,
	burst: (value) => `${value} at once`,
	cost: (value) => `${value} each`,
	clients: (value) => `${value}`,
};

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a limit such as 5/10s. */
export function parseLimit(text) {
	const [, quota, number, unit] = /^(\d+)\/(\d*)(ms|s|m|h|d)$/.exec(text);
	return { quota: Number(quota), window: Number(number || 1) * UNITS[unit], text: `${number || 1} ${unit}` };
}

export async function startRace() {
	const enforced = await policies();
	const limitText = enforced?.policies?.[`demo-${ALGORITHMS[0].name}`]?.limits?.[0] ?? '5/10s';
	const limit = parseLimit(limitText);
	document.getElementById('race-limit').textContent = limitText;
	new Race(limit);
}

class Race {

	#settings = { ...PRESETS.steady };
	#run = newClient('race');
	#requests = 0;

	constructor(limit) {
		this.stream = new Stream(this.#settings, limit, (client) => this.#send(client));
		this.inside = new Inside(() => this.#run, (lane) => this.stream.running || this.#ask(lane));
		this.lanes = ALGORITHMS.map((algorithm) => new Lane(algorithm, limit, (lane) => this.inside.toggle(lane)));
		this.start = document.getElementById('race-start');
		this.status = document.getElementById('race-status');
		document.getElementById('lanes').append(...this.lanes.map((lane) => lane.element));
		this.start.addEventListener('click', () => this.#toggle());
		document.getElementById('race-clear').addEventListener('click', () => this.#clear());
		this.presets = document.querySelectorAll('[data-preset]');
		this.presets.forEach((button) => button.addEventListener('click', () => this.#choose(button.dataset.preset)));
		for (const name of Object.keys(SLIDERS)) {
			document.getElementById(name).addEventListener('input', (event) => this.#slide(name, Number(event.target.value)));
		}
		this.#choose('steady');
		this.#animate();
		setInterval(() => this.stream.running && this.lanes.forEach((lane) => lane.lookForLocal()), 2000);
	}

	#send(client) {
		this.#requests++;
		this.lanes.forEach((lane) => this.#request(lane, client));
		this.status.textContent = `Sent ${this.#requests} requests to each.`;
	}

	async #request(lane, client) {
		const outcome = await lane.send(`${this.#run}-${client + 1}`, this.#settings.cost);
		this.inside.answered(lane, outcome);
	}

	/** Sends a single request to one lane, so that there is something to see in Redis. */
	#ask(lane) {
		this.#request(lane, 0);
	}

	#toggle() {
		if (this.stream.running) {
			this.stream.stop();
			this.status.textContent = `Stopped after ${this.#requests} requests to each.`;
		}
		else {
			this.status.textContent = this.#settings.edge ? 'Waiting for the start of a window…' : 'Sending…';
			this.stream.start();
		}
		this.start.textContent = this.stream.running ? 'Stop' : 'Start';
		this.start.classList.toggle('running', this.stream.running);
	}

	/** Uses new clients from now on, with full quotas. */
	#clear() {
		this.#run = newClient('race');
		this.#requests = 0;
		this.lanes.forEach((lane) => lane.clear());
		this.inside.clear();
		this.status.textContent = 'Cleared: new clients with full quotas.';
	}

	#choose(preset) {
		Object.assign(this.#settings, { edge: false }, PRESETS[preset]);
		this.#show(preset, PRESETS[preset].text);
		if (this.stream.running) {
			this.stream.stop();
			this.#clear();
			this.stream.start();
		}
	}

	#slide(name, value) {
		Object.assign(this.#settings, { edge: false, [name]: value });
		this.#show(null, 'As set below.');
	}

	#show(preset, text) {
		this.presets.forEach((button) => button.setAttribute('aria-pressed', button.dataset.preset === preset));
		document.getElementById('preset-text').textContent = text;
		for (const [name, describe] of Object.entries(SLIDERS)) {
			const text = describe(this.#settings[name]);
			const slider = document.getElementById(name);
			slider.value = this.#settings[name];
			slider.setAttribute('aria-valuetext', text);
			document.getElementById(`${name}-text`).textContent = text;
		}
	}

	#animate() {
		const calm = matchMedia('(prefers-reduced-motion: reduce)');
		const frame = () => {
			const now = performance.now();
			this.lanes.forEach((lane) => lane.render(now));
			calm.matches ? setTimeout(frame, 500) : requestAnimationFrame(frame);
		};
		frame();
	}

}
