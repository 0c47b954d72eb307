import { command } from "../../program/command.ts";
import { oneOf } from "../../program/flag-values.ts";
import { alignRows } from "../../../terminal/sections.ts";
import { line, type View } from "../../../terminal/view.ts";
import { parsePublicUrl } from "../../../config/public-url.ts";
import { platforms, type Snippet } from "./snippet-parts.ts";

export default command({
  summary: "Print the code that shows stars, reviews, and questions in a shop",
  examples: [
    "starpost shop snippet --for html --public-url https://reviews.shop.example",
    "starpost shop snippet --for shopify",
    "starpost shop snippet --for html --product teapot --pinned",
  ],
  flags: {
    for: {
      value: "<platform>",
      description: "kind of shop: html, shopify, woocommerce, or react",
      required: true,
      ...oneOf(platforms),
    },
    product: { value: "<id>", description: "product of the code (default: a placeholder, or the platform's variable)" },
    pinned: {
      description: "load this version's files with Subresource Integrity; print the code again after each update",
    },
    "public-url": {
      value: "<url>",
      description: "address of the service for browsers (default: that of the profile, or STARPOST_PUBLIC_URL)",
      read: parsePublicUrl,
    },
  },
  notes: [
    "Paste the code into the pages of the shop. Then run `starpost shop check` with the address of a product page.",
  ],
  run: async (context, { flags }) => {
    const { createSnippet } = await import("./snippet-run.ts");
    return createSnippet(context, flags);
  },
  render: formatSnippet,
});

/** The code is printed as it is, so that it can be copied: neither indented nor wrapped. */
function formatSnippet({ parts, policy }: Snippet): View {
  const titles = [...parts.map(({ title, where }) => `${title}: ${where}`), policyTitle];
  const codes = [...parts.map(({ code }) => code), formatPolicy(policy)];
  return line("code", titles.map((title, at) => `${at + 1}. ${title}\n\n${codes[at]}`).join("\n\n\n"));
}

const policyTitle = "Content security policy: only if the shop has one, add these sources";

function formatPolicy(policy: Snippet["policy"]): string {
  return alignRows(
    policy.map(({ directive, sources, reason }) => [directive, sources.join(" "), `(${reason})`]),
    { indent: "" },
  ).join("\n");
}
