# bash completion for surfjournal. The program itself says what fits; see Sources/surfjournal/Completion.

_surfjournal() {
  local text=${COMP_LINE:0:COMP_POINT} index=0 char quote= word= line file prefix cut=
  local -a words=()
  # Bash breaks words also at = and ':'. Here they are the words that the program would get.
  while ((index < ${#text})); do
    char=${text:index++:1}
    if [[ $quote == \\ ]]; then
      word+=$char quote=
    elif [[ -n $quote ]]; then
      if [[ $char == "$quote" ]]; then quote=; else word+=$char; fi
    elif [[ $char == [\'\"\\] ]]; then
      quote=$char
    elif [[ $char != [[:space:]] ]]; then
      word+=$char
    elif [[ -n $word ]]; then
      words+=("$word") word=
    fi
  done
  # Bash replaces what it takes for the word at the cursor, which may be only the end of it.
  [[ $word == *"$2" ]] && cut=${word%"$2"}
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files* ]]; then
      compopt -o filenames 2>/dev/null
      prefix=${line#:files }
      while IFS= read -r file; do
        file=$prefix$file
        COMPREPLY+=("${file#"$cut"}")
      done < <(compgen -f -- "${word#"$prefix"}")
    else
      line=${line%%$'\t'*}
      # Names come from stores and models of others: quoted, none of them is anything but a word.
      printf -v line %q "${line#"$cut"}"
      COMPREPLY+=("$line")
    fi
  done < <("${words[0]}" complete "${words[@]:1}" "$word" 2>/dev/null)
  # What follows an = follows it at once.
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -F _surfjournal surfjournal
