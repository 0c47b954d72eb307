/** Returns the arguments of each `starpost` call in a shell line, without quotes, redirections, and pipes. */
export function splitShellLine(line: string): string[][] {
  return [...line.matchAll(/(?:^|\$\()starpost ((?:'[^']*'|"(?:\\.|[^"\\])*"|[^'"|<>)])*)/g)].map(
    ([, text = ""]) =>
      [...text.matchAll(/(?:'[^']*'|"(?:\\.|[^"\\])*"|[^\s'"])+/g)].map(([word]) =>
        word.replaceAll(
          /'([^']*)'|"((?:\\.|[^"\\])*)"/g,
          (_, single?: string, double?: string) => single ?? double ?? "",
        ),
      ),
  );
}
