import { HtmlValidate } from "html-validate";

const rules = {
  // Style, not validity.
  "no-trailing-whitespace": "off",
  "long-title": "off",
} as const;

/** What email clients need, in particular Outlook. */
const emailRules = {
  ...rules,
  "no-conditional-comment": "off",
  "no-deprecated-attr": "off",
  "no-inline-style": "off",
  "prefer-native-element": "off",
  "prefer-tbody": "off",
} as const;

const [validator, emailValidator] = [rules, emailRules].map(
  (selected) => new HtmlValidate({ root: true, extends: ["html-validate:recommended"], rules: selected }),
) as [HtmlValidate, HtmlValidate];

/** Validates a complete page or an email, and returns one line per problem. */
export async function findFaults(page: string, { isEmail = false } = {}): Promise<string[]> {
  const { results } = await (isEmail ? emailValidator : validator).validateString(page);
  return results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, line }) => `${line}: ${ruleId}: ${message}`),
  );
}

/** Returns a complete page that contains an HTML fragment. */
export function wrapFragment(fragment: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>A store</title></head>
<body>
<h1>A pot</h1>
<h2>What people say</h2>
${fragment}
</body>
</html>
`;
}

/** Reads the JSON-LD block of a page. */
export function readJsonLd(page: string): unknown {
  const found = [...page.matchAll(/<script type="application\/ld\+json">(.*?)<\/script>/gs)];
  if (found.length !== 1) throw new Error(`the page has ${found.length} blocks of data`);
  return JSON.parse(found[0]?.[1] ?? "");
}
