import type { Photo, StorefrontPhotos } from "../contract/storefront/storefront.ts";
import { h } from "./dom.ts";

/** A photo with its review. */
export type ShownPhoto = StorefrontPhotos["photos"][number];

/** An image in the size that fits, and its average color until it is there. @param sizes how wide it is shown */
export function drawPhoto({ width, height, color, sizes: urls }: Photo, alt: string, sizes: string): HTMLImageElement {
  const edge = Math.max(width ?? 0, height ?? 0);
  // Photos are never enlarged.
  const widthOf = (size: string) => Math.ceil((Math.min(Number(size), edge) * (width ?? 0)) / edge);
  const srcset = Object.entries(urls).map(([size, url]) => `${url} ${widthOf(size)}w`);
  const known = edge > 0 && { width, height, sizes, srcset: srcset.join(", ") };
  const image = h("img", { alt, loading: "lazy", decoding: "async", ...known });
  image.style.backgroundColor = color ?? "";
  image.addEventListener("load", () => (image.style.backgroundColor = ""));
  image.src = urls["1200"];
  return image;
}
