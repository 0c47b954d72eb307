import type { default as sharpModule, Metadata } from "sharp";
import { type imageTypes, photoLimits } from "../../contract/reviews/images.ts";

type Sharp = typeof sharpModule;
export type ImageType = (typeof imageTypes)[number];

/** A photo as it is stored: upright, without metadata, with its thumbnail. Sizes are in bytes. */
export interface StoredPhoto {
  readonly photo_type: string;
  readonly photo: Uint8Array;
  readonly photo_size: number;
  readonly thumb: Uint8Array | null;
  readonly thumb_size: number | null;
}

/** What becomes of a photo. */
export type PhotoReply =
  | { readonly photo: StoredPhoto }
  /** Why it is refused, as the continuation of a sentence that starts with the photo. */
  | { readonly problem: string }
  /** The package that processes photos is not installed. */
  | { readonly isMissing: true };

/**
 * Rotates a photo as its EXIF data says, removes all metadata (also the place where it was taken), reduces it to the
 * stored size, and renders a thumbnail. Refuses one that cannot be decoded, or has too many pixels.
 * Assumed: of a GIF, the first frame is stored.
 */
export async function convertPhoto(bytes: Uint8Array, type: ImageType, load = loadSharp): Promise<PhotoReply> {
  const sharp = await load().catch(() => undefined);
  if (!sharp) return { isMissing: true };
  const { edge, thumbEdge } = photoLimits;
  try {
    // Only reads the header, so a small file that expands to gigabytes is rejected before it is decoded.
    const metadata = await sharp(bytes, { limitInputPixels: false }).metadata();
    const maxPixels = countMaxPixels(metadata, type);
    if (metadata.width * metadata.height > maxPixels) {
      return { problem: `has more than ${maxPixels / 1e6} megapixels` };
    }
    const reduced = await sharp(bytes, { limitInputPixels: maxPixels, failOn: "error" })
      .autoOrient()
      .resize({ width: edge, height: edge, fit: "inside", withoutEnlargement: true })
      .raw()
      .toBuffer({ resolveWithObject: true });
    const open = () => sharp(reduced.data, { raw: reduced.info });
    const photo = await encode(open, edge, photoLimits.bytes);
    const thumb = await encode(open, thumbEdge, photoLimits.thumbBytes);
    return {
      photo: { photo_type: "image/webp", photo, photo_size: photo.length, thumb, thumb_size: thumb.length },
    };
  } catch {
    return { problem: "is damaged: it cannot be decoded" };
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

async function loadSharp(): Promise<Sharp> {
  const { default: sharp } = await import("sharp");
  sharp.cache(false);
  // Leaves the other processors to calls.
  sharp.concurrency(1);
  return sharp;
}
