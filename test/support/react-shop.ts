import { createElement as h, useState } from "react";

/** A page of a shop in React, whose elements contain HTML of its server. */
export function ReactShop() {
  const [product, setProduct] = useState("pot");
  const [isMoreShown, setIsMoreShown] = useState(false);
  const panel = (element: string, attributes: Readonly<Record<string, unknown>>) =>
    h(`starpost-${element}`, { product, ...attributes }, h("p", null, `${element} of ${product}, from the server`));
  return h(
    "main",
    null,
    h("button", { id: "other", onClick: () => setProduct("new") }, "Another product"),
    h("button", { id: "more", onClick: () => setIsMoreShown(true) }, "More"),
    h("div", null, panel("rating", {}), h("starpost-badge")),
    panel("reviews", { "per-page": 5, "json-ld": true }),
    panel("review-form", { "product-name": "A teapot", open: true }),
    panel("questions", { "per-page": 3 }),
    panel("photos", { "per-page": 3 }),
    panel("carousel", {}),
    isMoreShown && h("section", { id: "added" }, panel("questions", {}), panel("photos", {}), panel("carousel", {})),
  );
}
