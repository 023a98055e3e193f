import { getJson, policies } from './actuator.js';
import { ALGORITHMS } from './algorithms.js';
import { parseLimit } from './race.js';
import { html } from './svg.js';
import { newClient, sendWhilePressed, Tile } from './tile.js';
import { settings } from './yaml.js';

const NAMES = ['send', 'second', 'second-status', 'tiles', 'together', 'form', 'limit', 'algorithm', 'switch', 'status', 'take', 'yaml'];

const SECOND = '/shared/second';

/** Two instances that share a quota, and a policy that changes while they enforce it. */
export function startShared() {
	new Shared().start();
}

class Shared {

	#client = newClient('shared');
	#parts = Object.fromEntries(NAMES.map((name) => [name, document.getElementById(`shared-${name}`)]));
	#tiles = [];
	#sent = 0;
	#admitted = [];
	#local = 0;
	#since = 0;
	enforced = { enabled: true };

	async start() {
		const { send, second, form, algorithm, switch: toggle } = this.#parts;
		algorithm.append(...ALGORITHMS.map(({ name }) => html('option', { textContent: name })));
		algorithm.addEventListener('change', () => this.#showTake());
		form.addEventListener('submit', (event) => {
			event.preventDefault();
			this.#change({ limit: this.#parts.limit.value, algorithm: algorithm.value });
		});
		toggle.addEventListener('click', () => this.#change({ enabled: !this.enforced.enabled }));
		sendWhilePressed(send, () => this.#send());
		second.addEventListener('click', () => this.#startOrStop());
		this.#addTile('This instance', location.origin);
		await this.#showPolicy();
		this.#showSecond(await getJson(SECOND));
	}

	/** Sends to the instances in turn, for the same client. */
	async #send() {
		const at = performance.now();
		const outcome = await this.#tiles[this.#sent++ % this.#tiles.length].send();
		this.#admitted.push(...(outcome === 'allowed') ? [at] : []);
		this.#local += (outcome === 'local' && this.enforced.enabled && at > this.#since) ? 1 : 0;
		this.#showAdmitted();
	}

	#showAdmitted() {
		if (!this.enforced.enabled) {
			this.#parts.together.textContent = 'The policy is switched off: every request is allowed, and none is counted.';
			return;
		}
		const { quota, window, text } = this.limit;
		this.#admitted = this.#admitted.filter((time) => time > Math.max(this.#since, performance.now() - window));
		this.#parts.together.textContent = `Admitted ${(this.#tiles.length > 1) ? 'by both together' : 'by this instance'}: ${this.#admitted.length} in the last ${text}, where the quota is ${quota}. In no window ${this.algorithm.name} admits more than ${this.algorithm.bound(quota)}.${this.#local ? ` Admitted without Redis: ${this.#local}.` : ''}`;
	}

	async #change(to) {
		const answer = await fetch(`/shared/policy?${new URLSearchParams({ ...this.enforced, ...to })}`, { method: 'PUT' });
		if (answer.ok) {
			await this.#showPolicy();
			this.#since = performance.now();
			this.#local = 0;
			this.#showAdmitted();
		}
		this.#parts.status.textContent = answer.ok ? 'Changed.' : await answer.text();
	}

	/** Shows what is enforced now. */
	async #showPolicy() {
		const { limits: [limit], algorithm, enabled } = (await policies()).policies.shared;
		this.enforced = { limit, algorithm, enabled };
		this.limit = parseLimit(limit);
		this.algorithm = ALGORITHMS.find(({ name }) => name === algorithm);
		this.#parts.limit.value = limit;
		this.#parts.algorithm.value = algorithm;
		this.#parts.switch.textContent = enabled ? 'Switch the policy off' : 'Switch the policy on';
		this.#parts.yaml.textContent = (await settings('shared')).replace(/(limits: )\S+/, `$1${limit}`).replace(/(algorithm: )\S+/, `$1${algorithm}`)
			.replace('\n', enabled ? '\n' : '\n  enabled: false\n');
		this.#showTake();
	}

	#showTake() {
		const { text, take } = ALGORITHMS.find(({ name }) => name === this.#parts.algorithm.value);
		this.#parts.take.textContent = `${text} ${take}`;
	}

	async #startOrStop() {
		const runs = this.#tiles.length > 1;
		const { second } = this.#parts;
		second.disabled = true;
		this.#parts['second-status'].textContent = runs ? 'Stopping…' : 'Starting, which takes some seconds…';
		const answer = await fetch(SECOND, { method: runs ? 'DELETE' : 'POST' });
		this.#showSecond(answer.ok ? await answer.json() : null);
	}

	#showSecond(state) {
		this.#tiles.splice(1).forEach((tile) => tile.element.remove());
		if (state?.port) {
			this.#addTile('Second instance', `http://${location.hostname}:${state.port}`);
		}
		this.#parts.second.disabled = !state;
		this.#parts.second.textContent = state?.port ? 'Stop the second instance' : 'Start a second instance';
		this.#parts['second-status'].textContent = !state ? 'Not possible: open the page of the first instance on its own machine, or look at its log.'
			: state.port ? 'Both count in the same Redis.' : '';
	}

	#addTile(title, origin) {
		const tile = new Tile(`${origin}/shared`, this.#client, html('h3', { textContent: title }), html('p', { textContent: origin }));
		this.#tiles.push(tile);
		this.#parts.tiles.append(tile.element);
	}

}
