/** The arguments of each call of the program in a line for the shell: quotes taken away, redirections and pipes cut off. */
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
