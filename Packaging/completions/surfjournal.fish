# fish completion for surfjournal. The program itself says what fits; see Sources/surfjournal/Completion.

function __surfjournal_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    for line in ($words[1] complete $words[2..] "$typed" 2>/dev/null)
        if string match -q ':files*' -- $line
            set -l prefix (string replace -r '^:files ?' '' -- $line)
            set -l rest (string sub -s (math (string length -- "$prefix") + 1) -- "$typed")
            for file in (__fish_complete_path "$rest")
                echo $prefix$file
            end
        else
            echo $line
        end
    end
end

complete -c surfjournal -f -a '(__surfjournal_complete)'
