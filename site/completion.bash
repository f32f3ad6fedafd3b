# In ~/.bashrc: eval "$(lotlake completion bash)"
_lotlake() {
  local IFS=$'\n' found
  found=$(SHELL=bash lotlake --get-yargs-completions "${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null)
  COMPREPLY=($(compgen -W "$found" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o bashdefault -o default -F _lotlake lotlake
