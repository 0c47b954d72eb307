import type { Language } from "../contract/brand/brand.ts";
import type english from "./catalogs/en.json";
import type { MessageFormatter } from "./formatter.ts";

// The build and the tests replace this module, from the folder `catalogs`: see `.ci/messages.ts`.

export type MessageKey = keyof typeof english;

/** The values of a message, by their names. */
export type MessageValues = Readonly<Record<string, unknown>>;

export type CompiledMessage = (values: MessageValues, formatter: MessageFormatter) => string;

export type Catalog = Readonly<Record<MessageKey, CompiledMessage>>;

/** Creates the compiled messages of each language, when it is used. All languages have the same keys. */
export declare const catalogs: Readonly<Partial<Record<Language, () => Catalog>>>;
