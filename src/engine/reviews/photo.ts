import type { default as sharpModule, Metadata } from "sharp";
import { type imageTypes, invalidField, photoLimits, ServiceError } from "../../contract/index.ts";

type Sharp = typeof sharpModule;
type ImageType = (typeof imageTypes)[number];

/** A photo as it is stored: upright, without metadata, with its thumbnail. Sizes are in bytes. */
export interface StoredPhoto {
  readonly photo_type: string;
  readonly photo: Uint8Array;
  readonly photo_size: number;
  readonly thumb: Uint8Array | null;
  readonly thumb_size: number | null;
}

/** Photos are processed one after another, which bounds the memory. */
let last: Promise<unknown> = Promise.resolve();
/**
 * Rotates a photo as its EXIF data says, removes all metadata (also the place where it was taken), reduces it to the
 * stored size, and renders a thumbnail. libvips decodes in threads of its own, so other calls are answered in the meantime.
 * Assumed: of a GIF, the first frame is stored.
 * @throws ServiceError `invalidParams` if the image cannot be decoded or has too many pixels, `featureDisabled` if the
 *   codec is not installed
 */
export function processPhoto(bytes: Buffer, type: ImageType, load = loadSharp): Promise<StoredPhoto> {
  const done = last.then(async () => convert(await load(), bytes, type));
  last = done.catch(() => {});
  return done;
}

async function convert(sharp: Sharp, bytes: Buffer, type: ImageType): Promise<StoredPhoto> {
  const { edge, thumbEdge } = photoLimits;
  try {
    // Only reads the header, so a small file that expands to gigabytes is rejected before it is decoded.
    const metadata = await sharp(bytes, { limitInputPixels: false }).metadata();
    const maxPixels = countMaxPixels(metadata, type);
    if (metadata.width * metadata.height > maxPixels)
      throw invalidField("image", `has more than ${maxPixels / 1e6} megapixels`);
    const reduced = await sharp(bytes, { limitInputPixels: maxPixels, failOn: "error" })
      .autoOrient()
      .resize({ width: edge, height: edge, fit: "inside", withoutEnlargement: true })
      .raw()
      .toBuffer({ resolveWithObject: true });
    const open = () => sharp(reduced.data, { raw: reduced.info });
    const photo = await encode(open, edge, photoLimits.bytes);
    const thumb = await encode(open, thumbEdge, photoLimits.thumbBytes);
    return { photo_type: "image/webp", photo, photo_size: photo.length, thumb, thumb_size: thumb.length };
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw invalidField("image", "is damaged: it cannot be decoded");
  }
}

/** How many pixels a photo may have. Some formats take twice the memory, because they are not decoded line by line. */
function countMaxPixels({ channels, depth, isProgressive }: Metadata, type: ImageType): number {
  const isDeep = depth !== "uchar";
  const isWhole = type === "image/webp" || type === "image/gif" || (isProgressive && type === "image/jpeg");
  return Math.floor(photoLimits.decodedBytes / (channels * (isDeep || isWhole ? 2 : 1)));
}

const qualities = [80, 50] as const;

/** Renders an image with at most `maxBytes`: lowers first the quality, and then the dimensions. */
async function encode(open: () => ReturnType<Sharp>, maxEdge: number, maxBytes: number): Promise<Buffer> {
  for (let edge = maxEdge; ; edge = Math.ceil(edge * 0.7)) {
    for (const quality of edge === maxEdge ? qualities : qualities.slice(1)) {
      const encoded = await open()
        .resize({ width: edge, height: edge, fit: "inside", withoutEnlargement: true })
        // More effort takes twice the time to save a few percent.
        .webp({ quality, effort: 2 })
        .toBuffer();
      if (encoded.length <= maxBytes) return encoded;
    }
  }
}

/** Loaded with the first photo, because it takes 100 ms. */
async function loadSharp(): Promise<Sharp> {
  try {
    const { default: sharp } = await import("sharp");
    sharp.cache(false);
    // Leaves the other processors to the calls.
    sharp.concurrency(1);
    return sharp;
  } catch {
    const hint = "Install the optional dependencies of starpost.";
    throw new ServiceError("featureDisabled", `photos cannot be processed, because sharp is not available. ${hint}`);
  }
}
