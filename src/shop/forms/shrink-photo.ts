/** The longest edge of a photo that is uploaded, and of its preview, in pixels. */
const edges = { upload: 2_048, preview: 160 } as const;

export interface ShrunkPhoto {
  /** The photo as JPEG, in Base64 after a `data:` prefix. */
  readonly data: string;
  readonly preview: HTMLCanvasElement;
}

/** Makes a photo small enough for an upload, and upright. @throws if the file is not an image that the browser can read */
export async function shrinkPhoto(file: Blob): Promise<ShrunkPhoto> {
  const bitmap = await createImageBitmap(file);
  const [upload, preview] = [await draw(bitmap, edges.upload), await draw(bitmap, edges.preview)];
  bitmap.close();
  const blob = await new Promise<Blob | null>((resolve) => upload.toBlob(resolve, "image/jpeg", 0.85));
  if (!blob) throw new Error("the photo cannot be encoded");
  return { data: await readData(blob), preview };
}

/** The browser scales the photo outside its main thread. */
async function draw(bitmap: ImageBitmap, edge: number): Promise<HTMLCanvasElement> {
  const scale = Math.min(1, edge / Math.max(bitmap.width, bitmap.height));
  const [resizeWidth, resizeHeight] = [bitmap.width, bitmap.height].map((size) =>
    Math.max(1, Math.round(size * scale)),
  );
  const scaled = await createImageBitmap(bitmap, { resizeWidth, resizeHeight, resizeQuality: "high" });
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [scaled.width, scaled.height];
  const context = canvas.getContext("2d");
  if (context) {
    // JPEG has no transparency.
    context.fillStyle = "#fff";
    context.fillRect(0, 0, scaled.width, scaled.height);
    context.drawImage(scaled, 0, 0);
  }
  scaled.close();
  return canvas;
}

function readData(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(reader.result as string));
    reader.addEventListener("error", () => reject(reader.error ?? new Error("the photo cannot be read")));
    reader.readAsDataURL(blob);
  });
}
