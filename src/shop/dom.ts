export type Child = Node | string | number | false | null | undefined;

/** Attributes by their names; names that begin with `on` are listeners. `false` and absent values set nothing. */
export type Attributes = Readonly<
  Record<string, string | number | boolean | null | undefined | ((event: Event) => unknown)>
>;

function fill<N extends Element>(node: N, attributes: Attributes, children: readonly Child[]): N {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  replace(node, children);
  return node;
}

/** Creates an element. Text never becomes HTML. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag: string, attributes: Attributes, ...children: readonly Child[]): Element {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** Replaces everything in an element. */
export function replace(node: ParentNode, children: readonly Child[]): void {
  node.replaceChildren(...children.flatMap((child) => (child || child === 0 ? [child as Node | string] : [])));
}

/** A style sheet that all instances of an element share. Strict policies allow it, unlike `<style>`. */
export function sheet(css: string): CSSStyleSheet {
  const made = new CSSStyleSheet();
  made.replaceSync(css);
  return made;
}

const star = "l3.1 6.6 7.2 1-5.3 5 1.4 7.1-6.4-3.5-6.4 3.5 1.4-7.1-5.3-5 7.2-1z";
const stars = [0, 1, 2, 3, 4].map((at) => `M${12 + 24 * at} 2${star}`).join("");

/** Five stars, of which the fraction of an average is filled. @param label what a screen reader says; without one, nothing */
export function drawStars(score: number, label?: string): Element {
  const draw = () => svg("path", { d: stars });
  const named = { role: "img", "aria-label": label, "aria-hidden": !label && "true" };
  return svg(
    "svg",
    { viewBox: "0 0 120 24", class: "stars", part: "stars", ...named },
    draw(),
    // Clips what does not fit.
    svg("svg", { width: score * 24, height: 24 }, draw()),
  );
}
