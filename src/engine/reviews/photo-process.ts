import { setPriority } from "node:os";
import { convertPhoto, type ImageType } from "./photo-codec.ts";

/** Calls of the server go first. */
const priority = 10;

try {
  setPriority(priority);
} catch {
  // Some sandboxes do not allow it.
}
process.on("message", ({ bytes, type }: { readonly bytes: Uint8Array; readonly type: ImageType }) => {
  void convertPhoto(bytes, type).then((reply) => process.send?.(reply));
});
