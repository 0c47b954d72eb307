// cspell:disable
import { readCatalogs } from "../../.ci/messages.ts";

const accents = new Map(
  Array.from(
    "aàbƀcçdðeèfƒgĝhĥiîjĵkķlļmɱnñoöpþrŕsŝtţuûvṽwŵxẋyýzž".matchAll(/(.)(.)/gu),
    ([, plain = "", accented = ""]) => [plain, accented],
  ),
);

/** Accents the letters of a message, but not those of its syntax, which are inside an odd number of braces. */
function accent(text: string): string {
  let depth = 0;
  return Array.from(text, (character) => {
    if (character === "{") depth += 1;
    if (character === "}") depth -= 1;
    return depth % 2 === 0 ? (accents.get(character) ?? character) : character;
  }).join("");
}

/** All messages in English, more than twice as long: each contains its text, and then the same with accents, in brackets. */
export const pseudoMessages: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(readCatalogs()["en"] ?? {}).map(([key, text]) => [key, `[${text} ${accent(text)}]`]),
);
