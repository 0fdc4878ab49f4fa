# Ctrl-R over all prompts that gjc-index knows, for bash 4 or newer.
#
#   eval "$(gjc-index history shell bash)"
#
# GJC_INDEX_KEY     the key, as bind writes it (default \C-r)
# GJC_INDEX_SELECT  a command that reads NUL-ended texts and prints the one
#                   chosen (default: fzf if there is one, else a menu)
# GJC_INDEX_LIMIT   how many prompts are offered (default 5000)

__gjc_index_prompts() {
  command gjc-index history recent --unique --print0 --quiet --limit "${1:-${GJC_INDEX_LIMIT:-5000}}" 2>/dev/null
}

# A numbered menu for a terminal without fzf. Its answer ends with NUL.
__gjc_index_menu() {
  local -a texts=()
  local text line number saved i=0
  while IFS= read -r -d '' text; do texts+=("$text"); done
  ((${#texts[@]})) || return 1
  saved=$(stty -g </dev/tty) && stty sane </dev/tty
  {
    printf '\n'
    for ((i = ${#texts[@]} < 20 ? ${#texts[@]} : 20; i > 0; i--)); do
      line=${texts[i - 1]//[$'\n\r\t']/ }
      line=${line//[[:cntrl:]]/}
      printf '%3d  %.*s\n' "$i" "$((${COLUMNS:-80} - 6))" "$line"
    done
    printf 'prompt number: '
  } >/dev/tty
  IFS= read -r number </dev/tty
  [ -n "$saved" ] && stty "$saved" </dev/tty
  [[ $number =~ ^[0-9]{1,4}$ ]] && ((10#$number >= 1 && 10#$number <= ${#texts[@]})) || return 1
  printf '%s\0' "${texts[10#$number - 1]}"
}

__gjc_index_select() {
  if [ -n "${GJC_INDEX_SELECT:-}" ]; then
    eval "$GJC_INDEX_SELECT"
  elif command -v fzf >/dev/null 2>&1; then
    fzf --read0 --print0 --no-sort --height 40% --prompt 'prompts> '
  else
    __gjc_index_menu
  fi
}

__gjc_index_history() {
  local text='' word
  IFS= read -r -d '' text < <(__gjc_index_prompts | __gjc_index_select)
  [ -n "$text" ] || return 0
  printf -v word '%q' "$text"
  READLINE_LINE=${READLINE_LINE:0:READLINE_POINT}$word${READLINE_LINE:READLINE_POINT}
  READLINE_POINT=$((READLINE_POINT + ${#word}))
}

case $- in
*i*) bind -x "\"${GJC_INDEX_KEY:-\\C-r}\": __gjc_index_history" ;;
esac
