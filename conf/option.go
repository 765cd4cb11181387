package conf

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// option is one field of Options, with what its tags say.
type option struct {
	name, env, group, help, def string
	choices                     []string
	min, max                    string
	placeholder                 string
	live                        bool
	field                       int
	typ                         reflect.Type
}

const envPrefix = "REDLOCK_PROXY_"

var (
	stringType   = reflect.TypeFor[string]()
	listType     = reflect.TypeFor[[]string]()
	secretType   = reflect.TypeFor[Secret]()
	intType      = reflect.TypeFor[int]()
	shareType    = reflect.TypeFor[float64]()
	durationType = reflect.TypeFor[time.Duration]()
)

// options is the table of all options, in the order of the fields.
var options = readTags(reflect.TypeFor[Options]())

func readTags(t reflect.Type) []option {
	table := make([]option, 0, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		o := option{
			name:        f.Tag.Get("name"),
			group:       f.Tag.Get("group"),
			help:        f.Tag.Get("help"),
			def:         f.Tag.Get("default"),
			min:         f.Tag.Get("min"),
			max:         f.Tag.Get("max"),
			placeholder: f.Tag.Get("placeholder"),
			live:        f.Tag.Get("live") == "yes",
			field:       i,
			typ:         f.Type,
		}
		o.env = envPrefix + strings.ToUpper(strings.ReplaceAll(o.name, "-", "_"))
		if c := f.Tag.Get("choice"); c != "" {
			o.choices = strings.Split(c, ",")
		}
		table = append(table, o)
	}
	return table
}

// lookup finds the option of that name, or nil.
func lookup(name string) *option {
	for i := range options {
		if options[i].name == name {
			return &options[i]
		}
	}
	return nil
}

func (o *option) secret() bool { return o.typ == secretType }

// value turns what a source says into a value of the option's type. Only a
// list takes more than one text; for others the last one counts, so that a
// flag can be given again at the end of a command line.
func (o *option) value(texts []string) (reflect.Value, *Problem) {
	if o.typ == listType {
		return reflect.ValueOf(o.list(texts)), nil
	}
	text := ""
	if len(texts) > 0 {
		text = texts[len(texts)-1]
	}
	switch o.typ {
	case secretType:
		return reflect.ValueOf(Secret(text)), nil
	case intType:
		n, p := o.number(text)
		return reflect.ValueOf(n), p
	case shareType:
		f, p := o.share(text)
		return reflect.ValueOf(f), p
	case durationType:
		d, p := o.duration(text)
		return reflect.ValueOf(d), p
	}
	if o.choices != nil {
		return o.choice(text)
	}
	return reflect.ValueOf(text), nil
}

// list is what is listed: users in lines, as their passwords may have commas, everything else between these.
func (o *option) list(texts []string) []string {
	if o.name == "user" {
		return split(texts, "\n")
	}
	return splitList(texts)
}

func splitList(texts []string) []string { return split(texts, ",") }

// split takes lists apart. Empty parts are left out.
func split(texts []string, at string) []string {
	list := []string{}
	for _, text := range texts {
		for part := range strings.SplitSeq(text, at) {
			if part = strings.TrimSpace(part); part != "" {
				list = append(list, part)
			}
		}
	}
	return list
}

func (o *option) choice(text string) (reflect.Value, *Problem) {
	for _, c := range o.choices {
		if strings.EqualFold(text, c) {
			return reflect.ValueOf(c), nil
		}
	}
	if o.choices[0] == "yes" && o.choices[1] == "no" {
		switch strings.ToLower(text) {
		case "on", "true":
			return reflect.ValueOf("yes"), nil
		case "off", "false":
			return reflect.ValueOf("no"), nil
		}
	}
	return reflect.Value{}, &Problem{
		What: fmt.Sprintf("%q is not a choice", text),
		Cure: "write " + oneOf(o.choices),
	}
}

func oneOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func (o *option) number(text string) (int, *Problem) {
	lo, _ := strconv.Atoi(o.min)
	hi, _ := strconv.Atoi(o.max)
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, &Problem{
			What: fmt.Sprintf("%q is not a whole number", text),
			Cure: fmt.Sprintf("write one from %d to %d", lo, hi),
		}
	}
	if n < lo || n > hi {
		return 0, &Problem{
			What: fmt.Sprintf("%d is out of range", n),
			Cure: fmt.Sprintf("write a number from %d to %d", lo, hi),
		}
	}
	return n, nil
}

func (o *option) share(text string) (float64, *Problem) {
	lo, _ := strconv.ParseFloat(o.min, 64)
	hi, _ := strconv.ParseFloat(o.max, 64)
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(lo <= f && f <= hi) { // which is true of no NaN
		return 0, &Problem{
			What: fmt.Sprintf("%q is not a number from %s to %s", text, o.min, o.max),
			Cure: "write a share, such as " + o.def,
		}
	}
	return f, nil
}

func (o *option) duration(text string) (time.Duration, *Problem) {
	lo, _ := time.ParseDuration(o.min)
	hi, _ := time.ParseDuration(o.max)
	d, err := time.ParseDuration(text)
	if err != nil {
		if _, bare := strconv.ParseFloat(text, 64); bare == nil {
			return 0, &Problem{
				What: fmt.Sprintf("%q has no unit", text),
				Cure: fmt.Sprintf("write %sms for milliseconds or %ss for seconds", text, text),
			}
		}
		return 0, &Problem{
			What: fmt.Sprintf("%q is not a duration", text),
			Cure: "write a number and a unit, such as 250ms, 10s, 5m or 1h30m",
		}
	}
	if d < lo || d > hi {
		return 0, &Problem{
			What: fmt.Sprintf("%s is out of range", shortDuration(d)),
			Cure: fmt.Sprintf("write a duration from %s to %s", o.min, o.max),
		}
	}
	return d, nil
}

// shortDuration writes 5m and not 5m0s.
func shortDuration(d time.Duration) string {
	if d == 0 {
		return "0"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
