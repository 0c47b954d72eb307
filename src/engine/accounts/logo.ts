import { createHash } from "node:crypto";
import { invalidField, logoLimits, logoTypes } from "../../contract/index.ts";
import { decodeImage } from "../kernel/image-data.ts";

type LogoType = (typeof logoTypes)[number];

interface Size {
  readonly width: number;
  readonly height: number;
}

/** What is known of a logo without its bytes. */
export interface LogoInfo extends Size {
  readonly content_type: LogoType;
  /** Distinguishes it from the logos before it. */
  readonly hash: string;
}

/**
 * Decodes a logo, and measures it. It is stored as it is.
 * @throws ServiceError `invalidParams`
 */
export function readLogo(sent: string): { readonly info: LogoInfo; readonly base64: string } {
  const { bytes, type } = decodeImage("logo", sent, { types: logoTypes, bytes: logoLimits.bytes });
  const size = measure(bytes, type);
  if (!size || size.width === 0 || size.height === 0) throw invalidField("logo", "is damaged or incomplete");
  const { width, height } = size;
  if (Math.max(width, height) > logoLimits.edge) {
    const found = `is ${width} × ${height} pixels; it must have at most ${logoLimits.edge} in each direction`;
    throw invalidField("logo", found);
  }
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  return { info: { content_type: type, hash, width, height }, base64: bytes.toString("base64") };
}

const measures: Readonly<Record<LogoType, (bytes: Buffer) => Size | undefined>> = {
  "image/png": measurePng,
  "image/jpeg": measureJpeg,
  "image/webp": measureWebp,
};

/** @returns undefined if the image is incomplete */
function measure(bytes: Buffer, type: LogoType): Size | undefined {
  try {
    return measures[type](bytes);
  } catch (error) {
    // A position after the end.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Source: PNG specification, 11.2.2 and 11.2.5. */
function measurePng(bytes: Buffer): Size | undefined {
  if (bytes.toString("latin1", 12, 16) !== "IHDR" || bytes.lastIndexOf("IEND") < 0) return undefined;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** Finds the frame header. Source: ITU T.81, B.1.1.3 and B.2.2. */
function measureJpeg(bytes: Buffer): Size | undefined {
  if (bytes.lastIndexOf(Buffer.from([0xff, 0xd9])) < 0) return undefined;
  for (let at = 2; bytes.readUInt8(at) === 0xff;) {
    const marker = bytes.readUInt8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    // Any number of fill bytes may be before a marker.
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

/** Source: WebP container specification; RFC 6386 9.1; WebP lossless bitstream specification, 3. */
function measureWebp(bytes: Buffer): Size | undefined {
  if (bytes.readUInt32LE(4) + 8 > bytes.length) return undefined;
  const format = bytes.toString("latin1", 12, 16);
  if (format === "VP8X") return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  if (format === "VP8 ") return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
  if (format !== "VP8L") return undefined;
  const bits = bytes.readUInt32LE(21);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}
