# Ctrl-R over all prompts that gjc-index knows, for fish 3 or newer.
#
#   gjc-index history shell fish | source
#
# GJC_INDEX_KEY     the key, as bind writes it (default \cr)
# GJC_INDEX_SELECT  a command that reads NUL-ended texts and prints the one
#                   chosen (default: fzf if there is one, else a menu)
# GJC_INDEX_LIMIT   how many prompts are offered (default 5000)

function __gjc_index_prompts
    set -l limit 5000
    set -q GJC_INDEX_LIMIT; and set limit $GJC_INDEX_LIMIT
    command gjc-index history recent --unique --print0 --quiet --limit $limit 2>/dev/null
end

# A numbered menu for a terminal without fzf. Its answer ends with NUL.
function __gjc_index_menu
    set -l texts
    while read -lz text
        set -a texts $text
    end
    test (count $texts) -gt 0; or return 1
    set -l most (math min 20, (count $texts))
    echo >/dev/tty
    for i in (seq $most -1 1)
        set -l line (string replace -ra '[[:cntrl:]]+' ' ' -- $texts[$i] | string collect)
        printf '%3d  %s\n' $i (string sub -l (math max 10, $COLUMNS - 6) -- $line) >/dev/tty
    end
    set -l number
    bash -c 'saved=$(stty -g); stty sane; printf "prompt number: "; IFS= read -r n; stty "$saved"; printf "%s" "$n" >&3' </dev/tty 3>&1 >/dev/tty | read number
    string match -qr '^[0-9]{1,4}$' -- $number; or return 1
    test $number -ge 1 -a $number -le (count $texts); or return 1
    printf '%s\0' $texts[$number]
end

function __gjc_index_select
    if set -q GJC_INDEX_SELECT; and test -n "$GJC_INDEX_SELECT"
        eval $GJC_INDEX_SELECT
    else if command -q fzf
        fzf --read0 --print0 --no-sort --height 40% --prompt 'prompts> '
    else
        __gjc_index_menu
    end
end

# The prompt chosen as one quoted word.
function __gjc_index_word
    __gjc_index_prompts | __gjc_index_select | read -lz text
    test -n "$text"; and string escape -- $text | string collect
end

function __gjc_index_history
    set -l word (__gjc_index_word | string collect)
    test -n "$word"; and commandline -i -- $word
    commandline -f repaint
end

if status is-interactive
    set -l key \cr
    set -q GJC_INDEX_KEY; and set key $GJC_INDEX_KEY
    bind $key __gjc_index_history
    bind -M insert $key __gjc_index_history 2>/dev/null
end
