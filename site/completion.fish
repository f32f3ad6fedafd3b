# In ~/.config/fish/config.fish: lotlake completion fish | source
function __lotlake
  set -l found (SHELL=fish lotlake --get-yargs-completions (commandline -opc) (commandline -ct) 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c lotlake -f -a '(__lotlake)'
