# In ~/.zshrc, after compinit: eval "$(lotlake completion zsh)"
_lotlake() {
  local -a found
  found=("${(@f)$(SHELL=zsh lotlake --get-yargs-completions "${(@)words[1,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then _describe lotlake found; else _files; fi
}
compdef _lotlake lotlake
