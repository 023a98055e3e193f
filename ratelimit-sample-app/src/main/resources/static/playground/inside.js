import { countsUrl, getJson } from './actuator.js';
import { html } from './svg.js';
import { yaml } from './yaml.js';

const INTERVAL = 1000;

/** The data of a lane in Redis, and the command that decided: part of the sample application, not of the starter. */
export class Inside {

	#lane = null;
	#commands = null;
	#timer = 0;
	#asked = 0;
	#answers = 0;
	#current = null;

	/**
	 * @param run returns the prefix of all client names
	 * @param opened is called with a lane when its commands are shown
	 */
	constructor(run, opened) {
		this.run = run;
		this.opened = opened;
	}

	toggle(lane) {
		const open = this.#lane !== lane;
		this.#close();
		if (open) {
			this.#open(lane);
		}
	}

	/** Called after an answer. */
	answered(lane) {
		if (lane === this.#lane) {
			this.#answers++;
			// Redis reports a command shortly after its answer has arrived.
			setTimeout(() => this.#showShare(), 200);
		}
	}

	clear() {
		this.#asked = 0;
		this.#answers = 0;
	}

	async #open(lane) {
		this.#lane = lane;
		this.clear();
		lane.button.setAttribute('aria-expanded', 'true');
		lane.inside.hidden = false;
		if (await getJson('/redis') === null) {
			lane.inside.replaceChildren(yaml(lane.policy), 'This application uses your Redis. The page only shows the data of a Redis that the application has started.');
			return;
		}
		const counts = html('a', { href: countsUrl(lane.policy, `header:X-Client:${this.run()}-1`), textContent: 'counts in the actuator' });
		this.keys = html('tbody');
		this.command = html('pre', { className: 'command', tabIndex: 0, textContent: 'Waiting for a request…' });
		this.share = html('p', { className: 'share' });
		lane.inside.replaceChildren(
			yaml(lane.policy),
			html('h3', { textContent: 'In Redis' }),
			html('table', {},
				html('thead', {}, html('tr', {}, html('th', { scope: 'col', textContent: 'Redis key' }),
					...['Bytes', 'Expires in'].map((text) => html('th', { scope: 'col', className: 'number', textContent: text })))),
				this.keys),
			html('h3', { textContent: 'The command that decided, and the commands in its script' }),
			this.command, this.share, html('p', {}, 'The same client: ', counts));
		this.#listen(lane);
		this.#look(lane);
	}

	#close() {
		this.#commands?.close();
		clearTimeout(this.#timer);
		if (this.#lane) {
			this.#lane.button.setAttribute('aria-expanded', 'false');
			this.#lane.inside.hidden = true;
			this.#lane.inside.replaceChildren();
		}
		this.#lane = null;
	}

	#listen(lane) {
		this.#commands = new EventSource('/redis/commands');
		this.#commands.addEventListener('ready', () => this.opened(lane));
		this.#commands.addEventListener('message', ({ data }) => this.#observe(lane, data));
	}

	/** Redis reports each command with its time and its client; commands of a script have "lua" as the client. */
	#observe(lane, line) {
		const [, client, command] = /^[\d.]+ \[\d+ ([^\]]+)\] (.*)$/.exec(line) ?? [];
		if (client === 'lua') {
			this.#current?.push(`    ${command}`);
		}
		else {
			const ours = command?.startsWith('"EVAL') && command.includes(`:${this.run()}-`) && command.includes(`}:${lane.policy}:`);
			// Redis that does not know the script yet is sent its source.
			this.#current = ours ? [command.replace(/^"EVAL" "(?:[^"\\]|\\.)*"/, '"EVAL" "…"')] : null;
			this.#asked += ours ? 1 : 0;
		}
		if (this.#current) {
			this.command.textContent = this.#current.join('\n');
		}
	}

	async #look(lane) {
		const found = await getJson(`/redis/keys?containing=${encodeURIComponent(`:${this.run()}-`)}`);
		if (lane !== this.#lane) {
			return;
		}
		const rows = (found ?? []).filter(({ key, bytes }) => bytes && key.includes(`}:${lane.policy}:`)).map(({ key, bytes, ttlMillis }) => html('tr', {},
			html('td', { className: 'key', textContent: key }),
			html('td', { className: 'number', textContent: bytes }),
			html('td', { className: 'number', textContent: `${(ttlMillis / 1000).toFixed(1)} s` })));
		const nothing = found ? 'Nothing: no request counts now.' : 'Redis does not answer.';
		this.keys.replaceChildren(...(rows.length ? rows : [html('tr', {}, html('td', { colSpan: 3, textContent: nothing }))]));
		this.#timer = setTimeout(() => this.#look(lane), INTERVAL);
	}

	#showShare() {
		if (this.#lane && this.#answers > this.#asked) {
			this.share.textContent = `Since you opened this, ${this.#answers} requests were decided by ${this.#asked} commands: waiting requests share a command, and repeated denials are answered from memory.`;
		}
	}

}
