import { HtmlValidate } from "html-validate";

const validator = new HtmlValidate({
  root: true,
  extends: ["html-validate:recommended"],
  rules: {
    // Style, not validity.
    "no-trailing-whitespace": "off",
    "long-title": "off",
  },
});

/** Validates a complete page, and returns one line per problem. */
export async function findFaults(page: string): Promise<string[]> {
  const { results } = await validator.validateString(page);
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
