import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";

// The build copies the folder beside the program.
const folder = new URL(import.meta.url.endsWith(".ts") ? "./assets/" : "./demo/", import.meta.url);

export function readJson<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`${name}.json`, folder), "utf8")) as T;
}

/** Reads `style.css`, or an image such as `products/teapot.webp`. */
export function readAsset(name: string): Promise<Buffer> {
  return readFile(new URL(name, folder));
}
