import { command } from "../../program/command.ts";
import { integerFrom } from "../../program/flag-values.ts";
import { formatDiagnosis, statusOfDiagnosis } from "../doctor/diagnosis-view.ts";

export default command({
  summary: "Check a page of a shop: script, service, products, security policy, and markup",
  argument: "<url>",
  argumentHelp: { url: { description: "address of the page" } },
  examples: [
    "starpost shop check https://shop.example/products/teapot",
    "starpost shop check http://localhost:3000/teapot --allow-private",
  ],
  flags: {
    "allow-private": { description: "allow private and local addresses, also in redirects" },
    timeout: {
      value: "<seconds>",
      description: "time limit for the page in seconds, 1 to 600",
      default: 15,
      read: integerFrom(1, 600),
    },
  },
  notes: [
    "Reads the HTML of the page as a browser receives it, and compares it with the profile's account. " +
      "It runs no scripts, so it does not see elements and markup that they add.",
    "The exit status is 0 if there are no problems (warnings do not count), 5 if the page cannot be reached, and 1 otherwise.",
  ],
  run: async (context, { arguments: [given = ""], flags }) => {
    const { checkShopPage } = await import("../../../doctor/shop/shop-checks.ts");
    const { maxRatedProducts } = await import("../../../contract/index.ts");
    const { parsePageUrl, findServiceUrl } = await import("./service-url.ts");
    const url = parsePageUrl(given);
    const { requestPage } = await context.io.loadApp();
    const { clock, version } = context.io;
    const isPrivateAllowed = flags["allow-private"] ?? false;
    return context.withConnection(async ({ service, appKey }) =>
      checkShopPage({
        url,
        fetchPage: (address) =>
          requestPage({ url: address, isPrivateAllowed, timeoutMs: flags.timeout * 1_000, version, clock }),
        appKey,
        baseUrl: await findServiceUrl(context),
        findProducts: async (ids) => {
          const found: string[] = [];
          for (let at = 0; at < ids.length; at += maxRatedProducts) {
            const product_ids = ids.slice(at, at + maxRatedProducts);
            const { ratings } = await service.storefront.ratings({ product_ids });
            found.push(...ratings.map(({ product_id: id }) => id));
          }
          return found;
        },
      }),
    );
  },
  render: formatDiagnosis,
  exitStatus: statusOfDiagnosis,
});
