import type sharpModule from "sharp";
import { type imageTypes, invalidField, photoLimits, ServiceError } from "../../contract/index.ts";

type Sharp = typeof sharpModule;
type ImageType = (typeof imageTypes)[number];

/** A photo as it is stored: upright, without metadata, with its thumbnail. */
export interface StoredPhoto {
  readonly content_type: ImageType;
  readonly base64: string;
  readonly thumb_base64: string;
}

/** Photos are processed one after another, which bounds the memory. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Rotates a photo as its EXIF data says, removes all metadata (also the place where it was taken), and renders a thumbnail.
 * libvips decodes in threads of its own, so other calls are answered in the meantime.
 * Assumed: of a GIF, the first frame is stored, as a PNG.
 * @throws ServiceError `invalidParams` if the image cannot be decoded or has too many pixels, `featureDisabled` if the
 *   codec is not installed
 */
export function processPhoto(bytes: Buffer, type: ImageType, load = loadSharp): Promise<StoredPhoto> {
  const done = last.then(async () => convert(await load(), bytes, type));
  last = done.catch(() => {});
  return done;
}

async function convert(sharp: Sharp, bytes: Buffer, type: ImageType): Promise<StoredPhoto> {
  const { pixels, edge, thumbEdge } = photoLimits;
  try {
    // Only reads the header, so a small file that expands to gigabytes is rejected before it is decoded.
    const { width, height } = await sharp(bytes, { limitInputPixels: false }).metadata();
    if (width * height > pixels) throw invalidField("image", `has more than ${pixels / 1e6} megapixels`);
    const upright = sharp(bytes, { limitInputPixels: pixels, failOn: "error" }).autoOrient();
    const format = type === "image/gif" ? "png" : formats[type];
    const render = (image: ReturnType<Sharp>, maxEdge: number, quality: number) =>
      image
        .resize({ width: maxEdge, height: maxEdge, fit: "inside", withoutEnlargement: true })
        .toFormat(format, format === "png" ? {} : { quality })
        .toBuffer();
    const photo = await render(upright, edge, 85);
    const thumb = await render(sharp(photo), thumbEdge, 80);
    const content_type = type === "image/gif" ? "image/png" : type;
    return { content_type, base64: photo.toString("base64"), thumb_base64: thumb.toString("base64") };
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw invalidField("image", "is damaged: it cannot be decoded");
  }
}

const formats = { "image/jpeg": "jpeg", "image/png": "png", "image/webp": "webp" } as const;

/** Loaded with the first photo, because it takes 100 ms. */
async function loadSharp(): Promise<Sharp> {
  try {
    const { default: sharp } = await import("sharp");
    sharp.cache(false);
    return sharp;
  } catch {
    const hint = "Install the optional dependencies of starpost.";
    throw new ServiceError("featureDisabled", `photos cannot be processed, because sharp is not available. ${hint}`);
  }
}
