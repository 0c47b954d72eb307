import { type contract, invalidField, type Language, languages, type OwnMessages } from "../../contract/index.ts";
import { accountIdOf, type HandlerContext, type Handlers } from "../kernel/handler.ts";
import { readSettings, saveSetting } from "./account-settings.ts";
import { parseMessages, readBrand } from "./brand.ts";

/** Texts of emails and pages that replace the built-in ones. */
export const messageHandlers: Handlers<typeof contract.messages> = {
  list: async ({ language }, context) => {
    const shown = language ?? (await readBrand(accountIdOf(context), context)).language;
    const own = (await readOwn(context))[shown] ?? {};
    const { sources } = await import("../../messages/sources.ts");
    return {
      messages: Object.entries(sources[shown] ?? {}).map(([key, built_in]) => {
        const text = Object.hasOwn(own, key) ? own[key] : undefined;
        return { language: shown, key, text: text ?? built_in, built_in, is_own: text !== undefined };
      }),
    };
  },

  /** @throws ServiceError `invalidParams`, also if the text has other values than the built-in one, or lacks a plural form */
  set: async ({ language, key, text }, context) => {
    await requireValid(language, key, text);
    const own = await readOwn(context);
    await save({ ...own, [language]: { ...own[language], [key]: text } }, context);
    return describe([[language, key]], context);
  },

  reset: async ({ language, key }, context) => {
    const own = await readOwn(context);
    const removed: [Language, string][] = [];
    const kept = languages.flatMap((name) => {
      const texts = Object.entries(own[name] ?? {}).filter(([ownKey]) => {
        const isRemoved = (language ?? name) === name && (key ?? ownKey) === ownKey;
        if (isRemoved) removed.push([name, ownKey]);
        return !isRemoved;
      });
      return texts.length === 0 ? [] : [[name, Object.fromEntries(texts)]];
    });
    await save(Object.fromEntries(kept) as OwnMessages, context);
    return describe(removed, context);
  },
};

async function requireValid(language: Language, key: string, text: string): Promise<void> {
  const { sources } = await import("../../messages/sources.ts");
  const builtIn = Object.entries(sources[language] ?? {}).find(([name]) => name === key)?.[1];
  if (builtIn === undefined) throw invalidField("key", "is not the key of a message; list them with messages.list");
  const { findFault, parseMessage } = await import("../../messages/icu.ts");
  let fault: string | undefined;
  try {
    fault = findFault(parseMessage(text), parseMessage(builtIn), language);
  } catch (error) {
    fault = `is not a valid message: ${(error as Error).message}`;
  }
  if (fault !== undefined) throw invalidField("text", fault);
}

async function describe(changed: readonly (readonly [Language, string])[], context: HandlerContext) {
  const { sources } = await import("../../messages/sources.ts");
  const own = await readOwn(context);
  return {
    messages: changed.map(([language, key]) => {
      const text = own[language]?.[key];
      // A key of an earlier version may have no built-in text.
      const built_in = (sources[language] as Readonly<Record<string, string>> | undefined)?.[key] ?? "";
      return { language, key, text: text ?? built_in, built_in, is_own: text !== undefined };
    }),
  };
}

async function readOwn(context: HandlerContext): Promise<OwnMessages> {
  const { messages } = await readSettings(["messages"], context, accountIdOf(context));
  return parseMessages(messages) ?? {};
}

async function save(own: OwnMessages, context: HandlerContext): Promise<void> {
  const value = Object.keys(own).length === 0 ? null : JSON.stringify(own);
  await saveSetting({ name: "messages", value }, context, accountIdOf(context));
}
