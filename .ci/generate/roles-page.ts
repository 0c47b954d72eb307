import { type Endpoint, honorsToken, operations, roles } from "../../src/contract/index.ts";

/** Returns the page with the roles of every operation. */
export function writeRolesPage(): string {
  const all = [...operations];
  const writeRow = ([name, endpoint]: readonly [string, Endpoint]) =>
    `| \`${name}\` | ${endpoint.summary} | ${roles.map((role) => (endpoint.roles.includes(role) ? "yes" : "")).join(" | ")} |`;
  const isPublic = ([, endpoint]: readonly [string, Endpoint]) => !honorsToken(endpoint);
  return [
    "<!-- Generated from the contract by `npm run generate`. Do not edit. -->",
    "# Roles",
    "What the tokens of a [credential](../operations/accounts.md#credentials-with-a-role) permit. Tokens of the account's own secret permit everything. A call that the role does not permit is refused with 401 (`Exceptions::RoleDenied`; exit status 4).",
    [`| operation | what it does | ${roles.join(" | ")} |`, `|---|---|${roles.map(() => "---|").join("")}`]
      .concat(all.filter((one) => !isPublic(one)).map(writeRow))
      .join("\n"),
    "Anyone may make the other calls, which ignore tokens. Those that need the account's secret accept only its own.",
    all
      .filter(isPublic)
      .map(([name, { summary }]) => `- \`${name}\`: ${summary}`)
      .join("\n"),
  ]
    .join("\n\n")
    .concat("\n");
}
