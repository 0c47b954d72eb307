/** No backslash, and nothing that only other programs write: no `$` quotes, block comments, or variables of `psql`. */
const tokenPattern = /\s+|--[^\n\r]*|\w+|"(?:[^"\\]|"")*"|'(?:[^'\\]|'')*'|::|[-(),;.=<>+*/%|&!~^]/y;

/**
 * Splits a statement that defines a table or an index into tokens, without comments.
 * @returns the tokens, with a space between them and in lower case unless they are quoted; undefined for anything else
 */
export function normalizeSql(sql: string): string | undefined {
  if (/[^\p{ASCII}]|\/\*/u.test(sql)) return undefined;
  const pattern = new RegExp(tokenPattern);
  const tokens: string[] = [];
  while (pattern.lastIndex < sql.length) {
    const [token] = pattern.exec(sql) ?? [];
    if (token === undefined) return undefined;
    if (/^(?:\s|--)/.test(token)) continue;
    tokens.push(/^["']/.test(token) ? token : token.toLowerCase());
  }
  return tokens.join(" ");
}

/** What may come before a parenthesis in the definition of a table or an index, other than an operator. */
const beforeParenthesis =
  /(?:^|[^\w"' ]|\b(?:key|unique|and|or|not|where|when|then|else|cast|coalesce|nullif|lower|btree|gin|with|include)) \($/;

/** Queries, other statements, and clauses that take definitions from elsewhere. */
const foreignClauses = /;|\b(?:select|table|values|execute|like|inherits|partition)\b/;

/**
 * Whether the columns, constraints, and conditions of a table or an index call no functions and contain no queries.
 * @param definition normalized, beginning with its first parenthesis
 */
export function isPlainDefinition(definition: string): boolean {
  const unquoted = definition.replaceAll(/"[^"]*"|'[^']*'/g, '""');
  const text = ` ${unquoted.replaceAll(/\breferences \S+ \( \S+ \)/g, "")}`;
  if (foreignClauses.test(text)) return false;
  return [...text.matchAll(/\(/g)].every(({ index }) => beforeParenthesis.test(text.slice(0, index + 1)));
}
