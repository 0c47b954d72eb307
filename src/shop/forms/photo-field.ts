import { h } from "../dom.ts";
import type { Context } from "../element.ts";
import type { Field } from "./form.ts";
import type { Draft } from "./form-button.ts";

/** A field for photos. What previews, shrinks, and sends them is loaded with the first one. */
export function drawPhotoField(describe: typeof import("./form.ts").describe, draft: Draft, context: Context): Field {
  const { t, shop } = context;
  const name = "photos";
  const max = shop.limits.photos_per_review;
  const limit = t("shop.form.limit", { count: max });
  const input = h("input", { type: "file", accept: "image/*", multiple: true, class: "unseen" });
  const { parts, showProblem } = describe(input, name, limit);
  const choose = h("label", { class: "choose" }, t("shop.form.add"), input);
  const label = h("span", { class: "label" }, t("shop.form.photos"));
  const node = h("div", { class: "field" }, label, ...parts, choose);
  const { photos } = draft;
  const add = (file: File) => {
    const added = import("./form-photos.ts").then(({ addPhoto }) =>
      addPhoto(file, { photos, input, choose, showProblem }, context),
    );
    const fail = () => {
      photos.delete(file);
      showProblem(t("shop.form.unreadable", { name: file.name }));
      return undefined;
    };
    // The shopper can choose again what cannot be read, also if the code cannot be loaded.
    photos.set(file, added.catch(fail));
  };
  for (const file of photos.keys()) add(file);
  input.addEventListener("change", () => {
    const files = [...(input.files ?? [])];
    const room = max - photos.size;
    // The same file can be chosen again.
    input.value = "";
    showProblem(files.length > room ? limit : "");
    for (const file of files.slice(0, room)) add(file);
  });
  return { name, node, control: input, findProblem: () => undefined, showProblem };
}
