package lua

import "strings"

// globals are the functions that a script may name.
var globals = words("assert error ipairs next pairs pcall select tonumber tostring type unpack")

// refusedGlobals would let a script out, or do what is not the same on all masters.
var refusedGlobals = words(`_G _VERSION collectgarbage coroutine debug dofile gcinfo getfenv getmetatable io load
	loadfile loadstring module newproxy os package print rawequal rawget rawset require setfenv setmetatable xpcall`)

// library is a table of Redis's. A script may name what is in it, and never itself.
type library struct {
	known   map[string]bool
	refused map[string]bool // what is in neither is nil to the script
}

var libraries = map[string]library{
	"bit": {known: words("arshift band bnot bor bswap bxor lshift rol ror rshift tobit tohex")},
	"cjson": {known: words("decode encode null"), refused: words(`_NAME _VERSION decode_array_with_array_mt
		decode_invalid_numbers decode_max_depth encode_empty_table_as_object encode_escape_forward_slash encode_invalid_numbers
		encode_keep_buffer encode_max_depth encode_number_precision encode_skip_unsupported_value_types encode_sparse_array new`)},
	"cmsgpack": {known: words("pack unpack"), refused: words("_COPYRIGHT _DESCRIPTION _NAME _VERSION unpack_limit unpack_one")},
	"math": {known: words(`abs acos asin atan atan2 ceil cos cosh deg exp floor fmod frexp huge ldexp log log10 max
		min mod modf pi pow rad random randomseed sin sinh sqrt tan tanh`)},
	"redis": {known: words(`call error_reply log pcall replicate_commands set_repl setresp sha1hex status_reply
		LOG_DEBUG LOG_NOTICE LOG_VERBOSE LOG_WARNING REDIS_VERSION REDIS_VERSION_NUM
		REPL_ALL REPL_AOF REPL_NONE REPL_REPLICA REPL_SLAVE`), refused: words("acl_check_cmd breakpoint debug register_function")},
	"string": {known: words("byte char find format gmatch gsub len lower match rep reverse sub upper"), refused: words("dump gfind")},
	"struct": {known: words("pack size unpack")},
	"table":  {known: words("concat foreach foreachi getn insert maxn remove sort"), refused: words("setn")},
}

// methods are the fields that a string has.
var methods = words("byte char dump find format gfind gmatch gsub len lower match rep reverse sub upper")

// giveOne are the functions that give one value, whatever they are given.
var giveOne = words(`tonumber tostring type redis.call redis.pcall redis.error_reply redis.status_reply redis.sha1hex
	string.len string.lower string.upper string.rep string.reverse string.format string.char
	math.abs math.acos math.asin math.atan math.atan2 math.ceil math.cos math.cosh math.deg math.exp math.floor math.fmod math.ldexp
	math.log math.log10 math.max math.min math.mod math.pow math.rad math.random math.sin math.sinh math.sqrt math.tan math.tanh
	bit.arshift bit.band bit.bnot bit.bor bit.bswap bit.bxor bit.lshift bit.rol bit.ror bit.rshift bit.tobit
	string.sub string.gmatch table.concat table.getn table.maxn struct.size cjson.decode cjson.encode cmsgpack.pack struct.pack bit.tohex`)

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}

// helper is how what stands in a name's place is printed. What Redis lacks is not there.
func (p *parser) helper(name string, there bool) string {
	p.resolve("__h")
	if there {
		p.helpers[name] = true
	}
	return "__h." + name
}

// named reads a name that an expression begins with.
func (p *parser) named() expression {
	name := p.plainName()
	line := p.line
	if p.err != nil {
		return expression{}
	}
	if v := p.resolve(name); v != nil {
		return expression{kind: local, from: p.write(name), name: name, variable: v, number: v.counter, size: leaf}
	}
	if lib, ok := libraries[name]; ok {
		return p.member(name, lib)
	}
	if refusedGlobals[name] {
		p.refuse(line, notForScripts, name)
	}
	return expression{kind: global, from: p.write(name), name: name, size: size{levels: 2, registers: 2}}
}

// member reads what of a library is named. What Redis lacks in it is nil, and has no
// helper.
func (p *parser) member(in string, lib library) expression {
	line := p.line
	var name string
	switch {
	case p.skip("."):
		name = p.take(Name)
	case p.now().is("[") && p.ahead(1).Kind == String && p.ahead(2).is("]"):
		p.skip("[")
		name = p.take(String)
		p.skip("]")
	default:
		p.refuse(line, notAValue, in)
	}
	if lib.refused[name] {
		p.refuse(line, notForScripts, in+"."+name)
	}
	e := expression{kind: member, name: in + "." + name, size: leaf}
	text := p.helper(in+"_"+name, lib.known[name])
	if !isName(name) {
		text = "__h[" + quote(in+"_"+name) + "]"
	}
	e.from = p.write(text)
	return e
}

// plainName takes a name that is no field's.
func (p *parser) plainName() string {
	name := p.take(Name)
	if strings.HasPrefix(name, "__") {
		p.refuse(p.line, notForScripts, name)
	}
	return name
}
