package commands

import "slices"

// keySet is keys, each once, in the order in which they were added.
type keySet struct {
	list []string
	in   map[string]struct{} // once they are many
}

// fewKeys are looked through in less time than a map takes.
const fewKeys = 32

func (s *keySet) has(key string) bool {
	if s.in != nil {
		_, ok := s.in[key]
		return ok
	}
	return slices.Contains(s.list, key)
}

func (s *keySet) add(key string) {
	if s.has(key) {
		return
	}
	s.list = append(s.list, key)
	switch {
	case s.in != nil:
		s.in[key] = struct{}{}
	case len(s.list) > fewKeys:
		s.in = make(map[string]struct{}, 2*len(s.list))
		for _, key := range s.list {
			s.in[key] = struct{}{}
		}
	}
}
