import { html } from './svg.js';

const OUTCOMES = { 200: 'allowed', 429: 'denied' };
const SHOWN = 40;
const INTERVAL = 500;

/** Returns a name that no other page uses, for a client with full quotas. */
export function newClient(prefix) {
	return `${prefix}-${Math.random().toString(36).slice(2, 8)}`;
}

/** Sends a request, reads its answer, and returns it with the outcome; the response is null if there is no answer. */
export async function ask(url, options) {
	const read = async (response) => (await response.text(), response);
	const response = await fetch(url, { ...options, cache: 'no-store' }).then(read).catch(() => null);
	return { response, outcome: OUTCOMES[response?.status] ?? 'failed' };
}

/** Makes a button send something twice a second, until it is pressed again. */
export function sendWhilePressed(button, send) {
	const text = button.textContent;
	let timer;
	button.addEventListener('click', () => {
		const sending = button.getAttribute('aria-pressed') === 'true';
		button.setAttribute('aria-pressed', !sending);
		button.textContent = sending ? text : 'Stop sending';
		button.classList.toggle('running', !sending);
		clearInterval(timer);
		timer = sending ? undefined : setInterval(send, INTERVAL);
	});
}

/** The answers of a URL. */
export class Tile {

	#marks = html('p', { className: 'marks', ariaHidden: 'true' });
	#last = html('p', { className: 'last', textContent: 'No answer yet.' });
	#counts = { allowed: 0, denied: 0, failed: 0 };

	/**
	 * @param url where requests go
	 * @param client who sends them
	 * @param head the elements above the answers
	 */
	constructor(url, client, ...head) {
		this.url = url;
		this.client = client;
		this.element = html('li', { className: 'tile' }, ...head, this.#marks, this.#last);
	}

	/** Returns the outcome; local if it was allowed by no decision of Redis, so that no header tells what is left. */
	async send() {
		const { response, outcome } = await ask(this.url, { headers: { 'X-Client': this.client } });
		this.#marks.append(html('i', { className: `mark ${outcome}` }));
		if (this.#marks.childElementCount > SHOWN) {
			this.#marks.firstElementChild.remove();
		}
		this.#counts[outcome]++;
		const { allowed, denied, failed } = this.#counts;
		const remaining = response?.headers.get('X-Rate-Limit-Remaining') ?? null;
		const left = (remaining === null) ? 'no rate limit headers' : `${remaining} remaining`;
		this.#last.textContent = `${response ? `${response.status}, ${left}` : 'No answer'}; so far ${allowed} allowed, ${denied} denied${failed ? `, ${failed} failed` : ''}`;
		return (outcome === 'allowed' && remaining === null) ? 'local' : outcome;
	}

}
