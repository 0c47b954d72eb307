/** Red, green, and blue, from 0 to 1. */
type Rgb = readonly [number, number, number];

/** Normalizes a color of three or six hexadecimal digits after `#`. @returns six of them, in lower case; undefined if it is not a color */
export function parseColor(text: string): string | undefined {
  const digits = /^#([\da-f]{3}|[\da-f]{6})$/i.exec(text)?.[1]?.toLowerCase();
  return digits && `#${digits.length === 3 ? digits.replaceAll(/./g, "$&$&") : digits}`;
}

/** The contrast ratio of two normalized colors, from 1 to 21. Source: WCAG 2.2, "contrast ratio". */
export function contrastOf(color: string, other: string): number {
  const [dark = 0, light = 0] = [luminanceOf(color), luminanceOf(other)].toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** Finds the color with the nearest lightness (HSL) whose contrast with `surface` is at least `ratio`. */
export function findContrasting(color: string, surface: string, ratio: number): string {
  const passes = (candidate: string) => contrastOf(candidate, surface) >= ratio;
  if (passes(color)) return color;
  const [hue, saturation, lightness] = toHsl(toRgb(color));
  const steps = Array.from({ length: 256 }, (_, step) => step / 255);
  const candidates = steps.toSorted((a, b) => Math.abs(a - lightness) - Math.abs(b - lightness));
  return candidates.map((step) => fromHsl([hue, saturation, step])).find(passes) ?? color;
}

/** @param share how much of the color there is, from 0 to 1 */
export function mixColors(color: string, surface: string, share: number): string {
  const base = toRgb(surface);
  return toHex(toRgb(color).map((value, at) => value * share + (base[at] ?? 0) * (1 - share)));
}

function toHex(channels: readonly number[]): string {
  const digits = channels.map((value) =>
    Math.round(value * 255)
      .toString(16)
      .padStart(2, "0"),
  );
  return `#${digits.join("")}`;
}

function toRgb(color: string): Rgb {
  const channel = (at: number) => Number.parseInt(color.slice(at, at + 2), 16) / 255;
  return [channel(1), channel(3), channel(5)];
}

/** Source: WCAG 2.2, "relative luminance". */
function luminanceOf(color: string): number {
  const [red, green, blue] = toRgb(color).map((value) =>
    value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4,
  ) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** @returns the hue in degrees, and the saturation and the lightness from 0 to 1. Source: CSS Color 4, "rgbToHsl" */
function toHsl([red, green, blue]: Rgb): Rgb {
  const [min, max] = [Math.min(red, green, blue), Math.max(red, green, blue)];
  const lightness = (min + max) / 2;
  const range = max - min;
  if (range === 0) return [0, 0, lightness];
  const saturation = (max - lightness) / Math.min(lightness, 1 - lightness);
  if (max === red) return [60 * (((green - blue) / range + 6) % 6), saturation, lightness];
  if (max === green) return [60 * ((blue - red) / range + 2), saturation, lightness];
  return [60 * ((red - green) / range + 4), saturation, lightness];
}

/** Source: CSS Color 4, "hslToRgb". */
function fromHsl([hue, saturation, lightness]: Rgb): string {
  const channel = (offset: number) => {
    const position = (offset + hue / 30) % 12;
    const amplitude = saturation * Math.min(lightness, 1 - lightness);
    return lightness - amplitude * Math.max(-1, Math.min(position - 3, 9 - position, 1));
  };
  return toHex([channel(0), channel(8), channel(4)]);
}
