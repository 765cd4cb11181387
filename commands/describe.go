package commands

import "strings"

// describe is a row as COMMAND INFO tells it.
func describe(c *Command) Reply {
	var categories, keys []Reply
	for word := range strings.FieldsSeq(c.Categories) {
		categories = append(categories, Simple("@"+word))
	}
	if c.KeyFlags != "" {
		keys = append(keys, describeKeys(c))
	}
	if c.SecondKey != "" {
		first, second := *c, *c
		first.LastKey, second.FirstKey, second.KeyFlags = c.FirstKey, c.LastKey, c.SecondKey
		keys = []Reply{describeKeys(&first), describeKeys(&second)}
	}
	if c.LastShard != 0 {
		as := *c
		as.FirstKey, as.LastKey, as.Step, as.KeyFlags = 1, c.LastShard, 1, "not_key"
		c, keys = &as, []Reply{describeKeys(&as)}
	}
	subcommands := Set()
	if len(c.Subcommands) > 0 {
		subcommands = Array(describeAll(c.Subcommands, describe)...)
	}
	return Array(
		Bulk(c.Name), Integer(int64(c.Arity)), Set(words(c.Flags, Simple)...),
		Integer(int64(c.FirstKey)), Integer(int64(c.LastKey)), Integer(int64(c.Step)),
		Set(categories...), Set(words(c.Tips, Bulk)...), Set(keys...), subcommands,
	)
}

// describeKeys tells where the keys of a command are: at fixed places, or as many
// as a number in front of them says.
func describeKeys(c *Command) Reply {
	begin, find := c.FirstKey, keyRange(c)
	if c.FirstKey == 0 {
		begin, find = c.countAt(), keyNumber()
	}
	var pairs []Reply
	if notes := c.doc().KeyNotes; notes != "" {
		pairs = append(pairs, Bulk("notes"), Bulk(notes))
	}
	pairs = append(pairs,
		Bulk("flags"), Set(words(c.KeyFlags, Simple)...),
		Bulk("begin_search"), Map(Bulk("type"), Bulk("index"), Bulk("spec"), Map(Bulk("index"), Integer(int64(begin)))),
		Bulk("find_keys"), find)
	return Map(pairs...)
}

// keyRange counts the last key from the first one, unless it is counted from the
// end.
func keyRange(c *Command) Reply {
	last := c.LastKey
	if last > 0 {
		last -= c.FirstKey
	}
	return Map(Bulk("type"), Bulk("range"), Bulk("spec"), Map(
		Bulk("lastkey"), Integer(int64(last)), Bulk("keystep"), Integer(int64(c.Step)), Bulk("limit"), Integer(0)))
}

func keyNumber() Reply {
	return Map(Bulk("type"), Bulk("keynum"), Bulk("spec"), Map(
		Bulk("keynumidx"), Integer(0), Bulk("firstkey"), Integer(1), Bulk("keystep"), Integer(1)))
}

// documentAll is rows as COMMAND DOCS tells them: name, documentation, name, …
func documentAll(rows []*Command) []Reply {
	var pairs []Reply
	for _, c := range rows {
		pairs = append(pairs, Bulk(c.Name), document(c))
	}
	return pairs
}

func document(c *Command) Reply {
	d := c.doc()
	pairs := []Reply{Bulk("summary"), Bulk(d.Summary), Bulk("since"), Bulk(d.Since), Bulk("group"), Bulk(d.Group)}
	if d.Complexity != "" {
		pairs = append(pairs, Bulk("complexity"), Bulk(d.Complexity))
	}
	if len(c.Subcommands) > 0 {
		pairs = append(pairs, Bulk("subcommands"), Map(documentAll(c.Subcommands)...))
	}
	return Map(pairs...)
}

func words(s string, reply func(string) Reply) []Reply {
	return describeAll(strings.Fields(s), reply)
}
