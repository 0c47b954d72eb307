import { setPriority } from "node:os";
import { convertPhoto, type ImageType } from "./photo-codec.ts";

/** Calls of the server go first. */
const priority = 10;

try {
  setPriority(priority);
} catch {
  // Some sandboxes do not allow it.
}
// A terminal sends these to the process, too; it ends with the process that started it.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
process.on("disconnect", () => process.exit());
process.on("message", ({ bytes, type }: { readonly bytes: Uint8Array; readonly type: ImageType }) => {
  void convertPhoto(bytes, type).then((reply) => process.send?.(reply));
});
