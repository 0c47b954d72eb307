export type Shell = "bash" | "zsh" | "fish";

/** The command that enables completion, for the help and the header of the script. */
export const installLines: Readonly<Record<Shell, string>> = {
  bash: `echo 'eval "$(starpost completion bash)"' >> ~/.bashrc`,
  zsh: `echo 'autoload -Uz compinit && compinit; eval "$(starpost completion zsh)"' >> ~/.zshrc`,
  fish: "starpost completion fish > ~/.config/fish/completions/starpost.fish",
};

/** The scripts discard error messages, which would appear within the command line. */
const scripts: Readonly<Record<Shell, string>> = {
  bash: `_starpost() {
  local line further=none
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :*) further=\${line#:} ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <(command starpost __complete bash "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  case $further in
    files) compopt -o default 2>/dev/null ;;
    folders) compopt -o dirnames 2>/dev/null ;;
  esac
}
complete -F _starpost starpost
`,
  zsh: `_starpost() {
  local line further=none
  local -a found
  for line in "\${(@f)$(command starpost __complete zsh "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      :*) further=\${line#:} ;;
      *$'\\t'*) found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done
  case $further in
    files) _files; return ;;
    folders) _files -/; return ;;
  esac
  (( $#found )) && _describe -V starpost found
}
if [[ $funcstack[1] == _starpost ]]; then _starpost "$@"; else compdef _starpost starpost; fi
`,
  fish: `function __starpost_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in (command starpost __complete fish $words[2..-1] 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path (commandline -ct)
            case :folders
                __fish_complete_directories (commandline -ct) ''
            case ':*'
            case '*'
                echo $line
        end
    end
end
complete -c starpost -f -k -a '(__starpost_complete)'
`,
};

/** The completion script, with installation instructions in its header. */
export function completionScript(shell: Shell): string {
  const head = [
    ...(shell === "zsh" ? ["#compdef starpost"] : []),
    `# Completes starpost's commands, flags and values in ${shell}. To enable in every session:`,
    `#   ${installLines[shell]}`,
  ];
  return `${head.join("\n")}\n${scripts[shell]}`;
}
