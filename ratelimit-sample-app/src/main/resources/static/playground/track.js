import { svg } from './svg.js';

const SPAN = 30_000;
const SLOT = 500;
const HEIGHT = 96;
const MIDDLE = HEIGHT / 2;
const PITCH = 5.6;

/** The last half minute of a lane: a square for each request, stacked by half seconds. */
export class Track {

	#marks = [];
	#piles = new Map();
	#width = 0;
	#moving = svg('g');
	#shade = svg('rect', { class: 'window', y: 0, height: HEIGHT });
	#line = svg('line', { class: 'axis', x1: 0, y1: MIDDLE, y2: MIDDLE });

	/**
	 * @param element the SVG element to draw in
	 * @param window the window in milliseconds
	 */
	constructor(element, window) {
		this.window = window;
		element.append(this.#shade, this.#moving, this.#line);
		new ResizeObserver(([entry]) => this.#resize(entry.contentRect.width)).observe(element);
		// Times are from performance.now(), edges from the wall clock.
		const epoch = Date.now() - performance.now();
		this.edge = Math.ceil(epoch / window) * window - epoch;
	}

	add(outcome, at) {
		const slot = Math.floor(at / SLOT);
		const pile = this.#piles.get(slot) ?? { up: 0, down: 0 };
		const up = outcome === 'allowed';
		const floor = up ? pile.up++ : pile.down++;
		this.#piles.set(slot, pile);
		const mark = { slot, element: svg('rect', {
			class: outcome, width: 4.6, height: 4.6, y: up ? MIDDLE - 1 - (floor + 1) * PITCH : MIDDLE + 2 + floor * PITCH,
		}) };
		mark.element.setAttribute('x', slot * SLOT * this.#scale());
		this.#marks.push(mark);
		this.#moving.append(mark.element);
	}

	clear() {
		this.#marks.forEach(({ element }) => element.remove());
		this.#marks = [];
		this.#piles.clear();
	}

	/** Moves everything to its current position. */
	render(now) {
		while (this.edge < now) {
			const x = this.edge * this.#scale();
			const element = svg('line', { class: 'edge', x1: x, x2: x, y1: 0, y2: HEIGHT });
			this.#marks.push({ slot: this.edge / SLOT, element });
			this.#moving.prepend(element);
			this.edge += this.window;
		}
		while (this.#marks.length && this.#marks[0].slot * SLOT < now - SPAN - this.window) {
			const { slot, element } = this.#marks.shift();
			this.#piles.delete(slot);
			element.remove();
		}
		this.#moving.setAttribute('transform', `translate(${(SPAN - now) * this.#scale() - 6} 0)`);
	}

	#scale() {
		return this.#width / SPAN;
	}

	#resize(width) {
		this.#width = width;
		const shade = this.window * this.#scale();
		this.#shade.setAttribute('x', width - shade);
		this.#shade.setAttribute('width', shade);
		this.#line.setAttribute('x2', width);
		for (const { slot, element } of this.#marks) {
			const x = slot * SLOT * this.#scale();
			for (const name of (element.nodeName === 'line') ? ['x1', 'x2'] : ['x']) {
				element.setAttribute(name, x);
			}
		}
	}

}
