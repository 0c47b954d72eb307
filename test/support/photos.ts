import sharp from "sharp";

/** The smallest valid PNG, in base64. */
export const tinyPng = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";

interface PhotoOptions {
  readonly type?: "jpeg" | "png" | "webp" | "gif";
  readonly width?: number;
  readonly height?: number;
  /** EXIF orientation: 6 for a photo that must be turned right. */
  readonly orientation?: number;
}

const taken = new Map<string, Promise<Buffer>>();

/** A photo as a phone takes it: red on the left, blue on the right, with the place where it was taken. */
export function takePhoto({
  type = "jpeg",
  width = 800,
  height = 600,
  orientation,
}: PhotoOptions = {}): Promise<Buffer> {
  const key = [type, width, height, orientation].join(" ");
  const photo = taken.get(key) ?? drawPhoto({ type, width, height, orientation });
  taken.set(key, photo);
  return photo;
}

function drawPhoto({ type, width, height, orientation }: Required<Omit<PhotoOptions, "orientation">> & PhotoOptions) {
  const half = { width: Math.ceil(width / 2), height, channels: 3 as const };
  const gps = { IFD3: { GPSLatitudeRef: "N", GPSLatitude: "52/1 31/1 0/1" }, IFD0: { Make: "Camera of Ann" } };
  const image = sharp({ create: { width, height, channels: 3, background: "red" } })
    .composite([{ input: { create: { ...half, background: "blue" } }, left: width - half.width, top: 0 }])
    .withExif(gps);
  const turned = orientation === undefined ? image : image.withMetadata({ orientation });
  return turned.toFormat(type).toBuffer();
}

/** The color of a pixel, as `red`, `blue`, or something else. */
export async function colorAt(image: Buffer, left: number, top: number): Promise<string> {
  const { data } = await sharp(image)
    .extract({ left, top, width: 1, height: 1 })
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const [red = 0, green = 0, blue = 0] = data;
  if (green > 60) return `${red} ${green} ${blue}`;
  return red > 200 && blue < 60 ? "red" : blue > 200 && red < 60 ? "blue" : `${red} ${green} ${blue}`;
}
