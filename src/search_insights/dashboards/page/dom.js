// Create elements from a name, attributes and children. Children are set as text, so a region's name is never parsed
// as markup.

const SVG = "http://www.w3.org/2000/svg";

// An HTML element.
export function h(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

// An SVG element.
export function s(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}

export const byId = (id) => document.getElementById(id);

export const prefersReducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
