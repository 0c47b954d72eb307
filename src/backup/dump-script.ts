import { UserError } from "../config/user-error.ts";
import { isPlainDefinition, normalizeSql } from "../storage/schema/sql-tokens.ts";

/** The longest statement, which creates a table, has about 1,000 characters. */
const maxStatementLength = 65_536;

const newline = 10;

/** Rows end with a line that begins like this. In a value, a backslash is doubled. */
const endOfRows = Buffer.from("\n\\.");

const settings =
  "statement_timeout|lock_timeout|idle_in_transaction_session_timeout|transaction_timeout|client_encoding|" +
  "standard_conforming_strings|check_function_bodies|xmloption|client_min_messages|row_security|default_tablespace|" +
  "default_table_access_method";

/** The statements in a dump of starpost. A `definition` must also be plain. */
function listPatterns(namespace: string): readonly RegExp[] {
  const name = String.raw`(?:\w+|"(?:[^"]|"")+")`;
  const names = String.raw`\( ${name}(?: , ${name})* \)`;
  const words = "[a-z0-9 -]*";
  const quoted = `"${namespace.replaceAll('"', '""')}"`;
  const schema = `(?:${[namespace, quoted].map((text) => text.replaceAll(/\W/g, String.raw`\$&`)).join("|")})`;
  const own = String.raw`${schema} \. ${name}`;
  const sequence = String.raw`'${schema}\.[\w"]+'`;
  const table = `alter table(?: only)? ${own}`;
  const column = `${table} alter column ${name}`;
  return [
    `set (?:${settings}) = (?:\\w+|'\\w*')`,
    String.raw`select pg_catalog \. set_config \( 'search_path' , '' , false \)`,
    String.raw`select pg_catalog \. setval \( ${sequence} , (?:- )?\d+ , \w+ \)`,
    String.raw`create table ${own} (?<definition>\(.*\))`,
    `create sequence ${own} ${words}`,
    String.raw`alter sequence ${own} owned by ${own} \. ${name}`,
    String.raw`${column} add generated (?:always|by default) as identity \( sequence name ${own} ${words}\)`,
    String.raw`${column} set default nextval \( ${sequence} :: regclass \)`,
    `${column} set (?:statistics|storage|compression) \\w+`,
    `${table} (?:replica identity|cluster on) ${name}`,
    `${table} add constraint ${name} (?:primary key|unique) ${names}`,
    `${table} add constraint ${name} foreign key ${names} references ${own} ${names}${words}`,
    `create(?: unique)? index ${name} on(?: only)? ${own} using (?:btree|gin|hash) (?<definition>.*)`,
    `copy ${own} ${names} from stdin`,
  ].map((pattern) => new RegExp(`^${pattern} ;$`, "s"));
}

/** Checks one statement. @returns whether rows follow; undefined if it is not allowed */
function checkStatement(statement: string, patterns: readonly RegExp[]): boolean | undefined {
  // In the default of a column, the next value of a sequence is the only function.
  const normalized = normalizeSql(statement)?.replaceAll(/default nextval \( '[\w."]+' :: regclass \)(?= [^;])/g, "");
  const match = patterns.map((pattern) => pattern.exec(normalized ?? "")).find((found) => found !== null);
  return match && isPlainDefinition(match.groups?.["definition"] ?? "") ? match[0].startsWith("copy ") : undefined;
}

/** Splits rows, with their end, from the SQL after them. An end is complete only with the character that must follow it. */
function splitRows(read: Buffer): { rows: Buffer; others: Buffer } {
  const end = read.indexOf(endOfRows);
  const isEnded = end !== -1 && read.length > end + endOfRows.length;
  const incomplete = Math.max(0, read.length - endOfRows.length);
  const at = isEnded ? end + endOfRows.length : end === -1 ? incomplete : end;
  return { rows: read.subarray(0, at), others: read.subarray(at) };
}

/**
 * Passes on the SQL that `pg_restore` has read from a backup, if it only creates tables with sequences, indexes, and keys, and
 * fills them. A backup that somebody else has written can contain any other statement: a `commit`, a function, or
 * `copy … from program`.
 * @param file the backup, for errors
 * @throws UserError for any other statement, before it is passed on
 */
export function checkScript(file: string, namespace: string) {
  const patterns = listPatterns(namespace);
  return async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    // Begins with the newline that ends the line before.
    let rest: Buffer = Buffer.from("\n");
    let statement = "";
    let isInRows = false;
    for await (const chunk of chunks) {
      rest = Buffer.concat([rest, chunk]);
      for (;;) {
        if (isInRows) {
          const { rows, others } = splitRows(rest);
          yield rows;
          rest = others;
          if (!rows.subarray(-endOfRows.length).equals(endOfRows)) break;
          if (rest[0] !== newline) throw foreignStatement(file, rest.toString("latin1"));
          isInRows = false;
        }
        const end = rest.indexOf(newline, 1);
        const line = rest.toString("latin1", 0, end === -1 ? rest.length : end);
        if (statement.length + line.length > maxStatementLength) throw foreignStatement(file, statement + line);
        if (end === -1) break;
        rest = rest.subarray(end);
        // The first and the last line of newer versions.
        const isRestriction = statement === "" && /^\n\\(?:un)?restrict \w+$/.test(line);
        if (isRestriction) yield Buffer.from(line, "latin1");
        if (isRestriction || /^\s*(?:--.*)?$/.test(line)) continue;
        statement += line;
        if (!line.endsWith(";")) continue;
        const hasRows = checkStatement(statement, patterns);
        if (hasRows === undefined) throw foreignStatement(file, statement);
        yield Buffer.from(statement, "latin1");
        statement = "";
        isInRows = hasRows;
      }
    }
    if (isInRows || statement !== "" || rest.length > 1)
      throw foreignStatement(file, statement || rest.toString("latin1"));
    yield rest;
  };
}

function foreignStatement(file: string, statement: string): UserError {
  const shown = statement
    .replaceAll(/[^!-~]+/g, " ")
    .trim()
    .slice(0, 80);
  return foreignContent(file, shown);
}

/** The error for a backup with something that starpost does not create, and that could run code. */
export function foreignContent(file: string, what: string): UserError {
  return new UserError(
    "failed",
    `${file}: contains something that starpost does not create, and that could run code: ${what}`,
    "Use another backup. If you trust this one, restore it with --trusted.",
  );
}
