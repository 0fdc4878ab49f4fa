# Ctrl-R over all prompts that gjc-index knows, for zsh.
#
#   eval "$(gjc-index history shell zsh)"
#
# GJC_INDEX_KEY     the key, as bindkey writes it (default ^R)
# GJC_INDEX_SELECT  a command that reads NUL-ended texts and prints the one
#                   chosen (default: fzf if there is one, else a menu)
# GJC_INDEX_LIMIT   how many prompts are offered (default 5000)

__gjc_index_prompts() {
  command gjc-index history recent --unique --print0 --quiet --limit "${GJC_INDEX_LIMIT:-5000}" 2>/dev/null
}

# A numbered menu for a terminal without fzf. Its answer ends with NUL.
__gjc_index_menu() {
  emulate -L zsh
  local -a texts
  local text line number saved
  integer i
  while IFS= read -r -d '' text; do texts+=("$text"); done
  (( ${#texts} )) || return 1
  saved=$(stty -g </dev/tty) && stty sane </dev/tty
  {
    print
    for (( i = ${#texts} < 20 ? ${#texts} : 20; i > 0; i-- )); do
      line=${texts[i]//[$'\n\r\t']/ }
      line=${line//[[:cntrl:]]/}
      printf '%3d  %s\n' $i "${line[1,$(( ${COLUMNS:-80} - 6 ))]}"
    done
    print -n 'prompt number: '
  } >/dev/tty
  IFS= read -r number </dev/tty
  [[ -n $saved ]] && stty $saved </dev/tty
  [[ $number == <1-9999> ]] && (( number <= ${#texts} )) || return 1
  printf '%s\0' "${texts[number]}"
}

__gjc_index_select() {
  if [[ -n ${GJC_INDEX_SELECT:-} ]]; then
    eval "$GJC_INDEX_SELECT"
  elif (( $+commands[fzf] )); then
    fzf --read0 --print0 --no-sort --height 40% --prompt 'prompts> '
  else
    __gjc_index_menu
  fi
}

__gjc_index_history() {
  emulate -L zsh
  local text
  text=$(__gjc_index_prompts | __gjc_index_select; print -n .) # the dot keeps line ends
  text=${${text%.}%$'\0'}
  if [[ -n $text ]]; then
    case $text in
    *[[:cntrl:]]*) LBUFFER+=${(qqqq)text} ;;
    *) LBUFFER+=${(qq)text} ;;
    esac
  fi
  if zle; then zle reset-prompt; fi
}

if [[ -o interactive ]]; then
  zle -N __gjc_index_history
  bindkey "${GJC_INDEX_KEY:-^R}" __gjc_index_history
fi
