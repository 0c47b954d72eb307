import { h } from "./dom.ts";
import type { Context } from "./element.ts";
import { describe, type Field } from "./form.ts";
import type { ShrunkPhoto } from "./shrink-photo.ts";

interface PhotoField {
  readonly field: Field;
  /** The photos, in Base64. */
  readonly read: () => Promise<readonly string[]>;
}

/** A field for photos, with previews, which are canvases: no policy refuses them. */
export function drawPhotoField({ t, shop }: Context): PhotoField {
  const name = "photos";
  const max = shop.limits.photos_per_review;
  const photos = new Map<HTMLElement, Promise<ShrunkPhoto | undefined>>();
  const limit = t("shop.form.limit", { count: max });
  const input = h("input", { type: "file", accept: "image/*", multiple: true, class: "unseen" });
  const list = h("ul", { class: "previews" });
  const { parts, showProblem } = describe(input, name, limit);

  const add = async (file: File) => {
    const remove = () => {
      photos.delete(item);
      const next = item.nextElementSibling ?? item.previousElementSibling;
      item.remove();
      showProblem();
      nameButtons();
      (next?.querySelector("button") ?? input).focus();
    };
    const button = h("button", { type: "button", part: "button", onclick: remove }, "×");
    const item = h("li", {}, button);
    list.append(item);
    // The shopper can choose again what cannot be read, also if the code cannot be loaded.
    const shrunk = import("./shrink-photo.ts").then(({ shrinkPhoto }) => shrinkPhoto(file)).catch(() => undefined);
    photos.set(item, shrunk);
    nameButtons();
    const photo = await shrunk;
    if (photo) item.prepend(photo.preview);
    else if (photos.has(item)) {
      remove();
      showProblem(t("shop.form.unreadable", { name: file.name }));
    }
  };
  const nameButtons = () => {
    for (const [at, button] of list.querySelectorAll("button").entries()) {
      button.ariaLabel = t("shop.form.remove", { number: at + 1 });
    }
  };
  input.addEventListener("change", () => {
    const files = [...(input.files ?? [])];
    const room = max - photos.size;
    // The same file can be chosen again.
    input.value = "";
    showProblem(files.length > room ? limit : "");
    for (const file of files.slice(0, room)) void add(file);
  });
  const choose = h("label", { class: "choose" }, t("shop.form.add"), input);
  const label = h("span", { class: "label" }, t("shop.form.photos"));
  const node = h("div", { class: "field" }, label, ...parts, list, choose);
  const read = async () => (await Promise.all(photos.values())).flatMap((photo) => photo?.data ?? []);
  return { field: { name, node, control: input, findProblem: () => undefined, showProblem }, read };
}
