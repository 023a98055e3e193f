/** Creates an SVG element. */
export function svg(name, attributes = {}, ...children) {
	const element = document.createElementNS('http://www.w3.org/2000/svg', name);
	for (const [attribute, value] of Object.entries(attributes)) {
		element.setAttribute(attribute, value);
	}
	element.append(...children);
	return element;
}

/** Creates an HTML element with properties such as className and textContent. */
export function html(name, properties = {}, ...children) {
	const element = Object.assign(document.createElement(name), properties);
	element.append(...children);
	return element;
}
