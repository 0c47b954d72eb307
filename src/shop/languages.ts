import type { Texts } from "./texts.ts";

// The build replaces this module, from the messages that the sources of the elements name: see `.ci/shop-assets.js`.

export declare const languages: readonly string[];

/** Loads the texts of a language. */
export declare function loadTexts(language: string): Promise<{ readonly default: Texts }>;
