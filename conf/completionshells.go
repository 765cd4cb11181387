package conf

import (
	"fmt"
	"strings"
)

// bashCompletion needs nothing but bash. Bash takes --flag=value for three words.
func bashCompletion(flags []toldFlag, commands []toldCommand) string {
	var b strings.Builder
	b.WriteString(`# bash completion for redlock-proxy: source <(redlock-proxy completion bash)
_redlock_proxy() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= word
	if [[ $cur == = ]]; then
		cur=
	elif [[ $prev == = ]]; then
		prev=${COMP_WORDS[COMP_CWORD-2]}
	fi
	COMPREPLY=()
	case $prev in
`)
	all := flags
	for _, c := range commands {
		all = append(all, c.flags...)
	}
	for _, f := range all {
		if f.choices != nil {
			fmt.Fprintf(&b, "\t--%s) COMPREPLY=($(compgen -W %q -- \"$cur\")); return ;;\n", f.name, strings.Join(f.choices, " "))
		}
	}
	fmt.Fprintf(&b, "\t%s) compopt -o filenames 2>/dev/null; local IFS=$'\\n'; COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n",
		strings.Join(flagNames(all, func(f toldFlag) bool { return f.file }), "|"))
	fmt.Fprintf(&b, "\t%s) return ;;\n", strings.Join(flagNames(all, func(f toldFlag) bool { return f.placeholder != "" && !f.file && f.choices == nil }), "|"))
	names := make([]string, len(commands))
	for i, c := range commands {
		names[i] = c.name
	}
	fmt.Fprintf(&b, `	esac
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		case $word in
		%s) command=$word; break ;;
		esac
	done
	local words= flags=%q
	case $command in
	'') words=%q ;;
`, strings.Join(names, "|"), strings.Join(flagNames(flags, anyFlag), " "), strings.Join(names, " "))
	for _, c := range commands {
		if len(c.flags)+len(c.words) > 0 {
			fmt.Fprintf(&b, "\t%s) flags+=%q words=%q ;;\n", c.name, " "+strings.Join(flagNames(c.flags, anyFlag), " "), strings.Join(c.words, " "))
		}
	}
	b.WriteString(`	esac
	if [[ $cur == -* ]]; then
		words=$flags
	fi
	COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _redlock_proxy redlock-proxy
`)
	return b.String()
}

// zshCompletion is a function as zsh has them in its fpath; sourced, it names itself.
func zshCompletion(flags []toldFlag, commands []toldCommand) string {
	var b strings.Builder
	b.WriteString("#compdef redlock-proxy\n# zsh completion for redlock-proxy: a file _redlock-proxy in fpath, or source <(redlock-proxy completion zsh)\n_redlock_proxy() {\n\tlocal -a flags commands\n\tlocal word\n\tflags=(\n")
	for _, f := range flags {
		fmt.Fprintf(&b, "\t\t%s\n", zshFlag(f))
	}
	b.WriteString("\t)\n\tcommands=(\n")
	for _, c := range commands {
		fmt.Fprintf(&b, "\t\t%s\n", shellQuoted(c.name+":"+sentence(c.help)))
	}
	b.WriteString("\t)\n\tfor word in ${words[2,CURRENT-1]}; do\n\t\tcase $word in\n")
	for _, c := range commands {
		fmt.Fprintf(&b, "\t\t(%s)\n\t\t\tcommands=(%s)\n", c.name, strings.Join(c.words, " "))
		for _, f := range c.flags {
			fmt.Fprintf(&b, "\t\t\tflags+=(%s)\n", zshFlag(f))
		}
		b.WriteString("\t\t\tbreak ;;\n")
	}
	b.WriteString("\t\tesac\n\tdone\n\t_arguments \"${flags[@]}\" \"*:word:{ (( \\$#commands )) && _describe command commands }\"\n}\n" +
		"if [[ $funcstack[1] == _redlock-proxy ]]; then\n\t_redlock_proxy \"$@\"\nelse\n\tcompdef _redlock_proxy redlock-proxy\nfi\n")
	return b.String()
}

// zshFlag is a flag as _arguments has it.
func zshFlag(f toldFlag) string {
	help := strings.NewReplacer("[", "(", "]", ")", ":", ",").Replace(sentence(f.help))
	switch {
	case f.placeholder == "":
		return shellQuoted("--" + f.name + "[" + help + "]")
	case f.choices != nil:
		return shellQuoted("*--" + f.name + "=[" + help + "]:value:(" + strings.Join(f.choices, " ") + ")")
	case f.file:
		return shellQuoted("*--" + f.name + "=[" + help + "]:path:_files")
	}
	return shellQuoted("*--" + f.name + "=[" + help + "]:value: ")
}

// fishCompletion is a line for each word.
func fishCompletion(flags []toldFlag, commands []toldCommand) string {
	var b strings.Builder
	b.WriteString("# fish completion for redlock-proxy: redlock-proxy completion fish | source\ncomplete -c redlock-proxy -f\n")
	for _, c := range commands {
		fmt.Fprintf(&b, "complete -c redlock-proxy -n __fish_use_subcommand -a %s -d %s\n", c.name, fishQuoted(sentence(c.help)))
	}
	line := func(condition string, f toldFlag) {
		fmt.Fprintf(&b, "complete -c redlock-proxy %s-l %s", condition, f.name)
		switch {
		case f.choices != nil:
			fmt.Fprintf(&b, " -x -a %s", fishQuoted(strings.Join(f.choices, " ")))
		case f.file:
			b.WriteString(" -r -F")
		case f.placeholder != "":
			b.WriteString(" -x")
		}
		fmt.Fprintf(&b, " -d %s\n", fishQuoted(sentence(f.help)))
	}
	for _, f := range flags {
		line("", f)
	}
	for _, c := range commands {
		condition := "-n " + fishQuoted("__fish_seen_subcommand_from "+c.name) + " "
		for _, f := range c.flags {
			line(condition, f)
		}
		if c.words != nil {
			fmt.Fprintf(&b, "complete -c redlock-proxy %s-a %s\n", condition, fishQuoted(strings.Join(c.words, " ")))
		}
	}
	return b.String()
}

// shellQuoted is a text as one word of bash or zsh, fishQuoted of fish.
func shellQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func fishQuoted(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}
