import type { Language } from "../contract/brand/brand.ts";
import type { MessageKey } from "./catalogs.ts";

// The build and the tests replace this module, from the folder `catalogs`.

/** The messages of each language as they are written, in ICU MessageFormat. */
export declare const sources: Readonly<Partial<Record<Language, Readonly<Record<MessageKey, string>>>>>;
