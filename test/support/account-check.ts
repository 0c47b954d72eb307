import { tables } from "../../src/storage/tables.ts";

/** One select, update, delete, or insert of a statement. */
interface Scope {
  readonly outer: Scope | undefined;
  /** Its tables with rows of accounts, by alias. */
  readonly aliases: Map<string, Table>;
}

interface Table {
  readonly name: string;
  /** Tables that are of the same account, and whether a value outside of the tables says which. */
  readonly same: Set<Table>;
  isCompared: boolean;
}

/** The columns that say of which account a row is. */
const accountColumns = new Map<string, readonly string[]>([
  ["accounts", ["id", "app_key"]],
  ...Object.entries(tables).flatMap(([name, { columns }]): [string, string[]][] =>
    "account_id" in columns ? [[name, ["account_id"]]] : [],
  ),
]);

const tokenPattern = /'(?:[^']|'')*'|"[^"]+"|\$?\w+|<=|>=|<>|!=|[^\s\w]/g;

/** What can follow a table instead of its alias. */
const afterTable =
  /^(?:where|on|set|left|inner|cross|join|order|group|limit|union|values|select|returning|using|default|offset|for|indexed|not)$/;

/** Ends a list of tables. */
const afterTables = /^(?:where|order|group|limit|set|returning|having|select)$/;

/** Returns the tables of a statement whose rows may be those of other accounts, because nothing compares their account. */
export function findUncompared(sql: string): string[] {
  const tokens = (sql.match(tokenPattern) ?? []).map((token) =>
    token.startsWith("'") ? token : token.replaceAll('"', "").toLowerCase(),
  );
  const found: Table[] = [];
  const comparisons: (() => void)[] = [];
  let at = 0;

  const addTable = (scope: Scope) => {
    const name = tokens[at] ?? "";
    if (!accountColumns.has(name)) return;
    const named = tokens[at + 1] === "as" ? tokens[at + 2] : tokens[at + 1];
    const alias = named !== undefined && /^\w+$/.test(named) && !afterTable.test(named) ? named : name;
    const table = { name, same: new Set<Table>(), isCompared: false };
    scope.aliases.set(alias, table);
    found.push(table);
  };

  /** The table whose account is the operand that ends, or begins, at a token. */
  const findTable = (index: number, scope: Scope): Table | undefined => {
    const column = tokens[index] ?? "";
    const alias = tokens[index - 1] === "." ? tokens[index - 2] : undefined;
    for (let inner: Scope | undefined = scope; inner; inner = inner.outer) {
      for (const [name, table] of inner.aliases) {
        if (accountColumns.get(table.name)?.includes(column) && (alias === undefined || alias === name)) return table;
      }
    }
    return undefined;
  };

  const addComparison = (equals: number, scope: Scope) => {
    const right = tokens[equals + 2] === "." ? equals + 3 : equals + 1;
    comparisons.push(() => {
      const [one, other] = [findTable(equals - 1, scope), findTable(right, scope)];
      if (one && other) {
        one.same.add(other);
        other.same.add(one);
      } else for (const table of [one, other]) if (table) table.isCompared = true;
    });
  };

  const readScope = (outer: Scope | undefined): void => {
    let scope: Scope = { outer, aliases: new Map() };
    let [depth, listDepth] = [0, -1];
    for (; at < tokens.length; at++) {
      const token = tokens[at] ?? "";
      const next = tokens[at + 1] ?? "";
      if (token === "(" && /^(?:select|with|insert|update|delete)$/.test(next)) {
        at += 1;
        readScope(scope);
      } else if (token === "(") depth += 1;
      else if (token === ")") {
        if (depth === 0) return;
        depth -= 1;
      } else if (/^(?:union|intersect|except)$/.test(token)) scope = { outer, aliases: new Map() };
      else if (token === "into") {
        // What is inserted names its account.
        at += 1;
        if (next !== "accounts" && !tokens.slice(at, tokens.indexOf(")", at)).includes("account_id")) addTable(scope);
      } else if (
        (token === "from" && tokens[at - 1] !== "distinct") ||
        token === "join" ||
        (token === "update" && next !== "set") ||
        (token === "," && depth === listDepth)
      ) {
        if (token === "from") listDepth = depth;
        if (next === "(") continue;
        at += 1;
        addTable(scope);
      } else if (afterTables.test(token) && depth === listDepth) listDepth = -1;
      else if (token === "=") addComparison(at, scope);
      else if (token === "in" && tokens[at - 1] === "account_id") addComparison(at, scope);
    }
  };
  readScope(undefined);
  for (const compare of comparisons) compare();
  const compared = found.filter(({ isCompared }) => isCompared);
  for (const table of compared) {
    for (const other of table.same) {
      if (!compared.includes(other)) compared.push(other);
    }
  }
  return found.filter((table) => !compared.includes(table)).map(({ name }) => name);
}
